// A small JSON value (an event, a node of a graph) while it is looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::goal {

enum class JsonKind : std::uint8_t { kMissing, kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

// Values of one tree in the order they were read, with their texts in one piece; used again for the next.
struct JsonTree {
  struct Node {
    JsonKind kind = JsonKind::kNull;
    std::uint32_t after = 0;  // the node behind this one and all in it
    std::uint32_t key = 0, key_size = 0;
    std::uint32_t text = 0, text_size = 0;  // of strings, without escapes; of numbers, as written
  };
  std::vector<Node> nodes;
  std::string text;
  void clear() {
    nodes.clear();
    text.clear();
  }
};

// A value in a tree; good until the tree is used for the next. What is looked for and not there is a value of
// kind kMissing, so that v["args"]["dtype"].text() needs no checks between.
class JsonValue {
 public:
  JsonValue() = default;
  JsonValue(const JsonTree& tree, std::uint32_t node) : tree_(&tree), node_(node) {}

  JsonKind kind() const { return tree_ == nullptr ? JsonKind::kMissing : tree_->nodes[node_].kind; }
  bool missing() const { return tree_ == nullptr; }
  bool is_object() const { return kind() == JsonKind::kObject; }
  bool is_array() const { return kind() == JsonKind::kArray; }
  bool is_string() const { return kind() == JsonKind::kString; }
  explicit operator bool() const { return tree_ != nullptr; }

  // The member of an object; missing if there is none or this is no object. Linear in the members.
  JsonValue operator[](std::string_view key) const;
  // The name of this member; empty in an array.
  std::string_view key() const;
  // The text of a string or number; empty otherwise.
  std::string_view text() const;
  // The whole number of a number or of a string that holds one, in any form (0x10, 16.0, 1.6e1); nothing for
  // any other.
  std::optional<std::int64_t> integer() const;
  std::optional<std::uint64_t> unsigned_integer() const;
  // These read what a file may leave out: they give `otherwise` if it's missing or null. For what is there
  // and no such value they throw InputError with the member's name; read_json() adds the place.
  std::int64_t integer_or(std::int64_t otherwise) const;
  std::uint64_t unsigned_or(std::uint64_t otherwise) const;
  bool boolean_or(bool otherwise) const;
  // true, false, or "true" and "false" in quotes, in any case, 0 and 1.
  std::optional<bool> boolean() const;
  // Decimal text times 1000, cut to a whole number: microseconds to nanoseconds, exact for as many digits as
  // there are. Nothing if it is no decimal number or does not fit.
  std::optional<std::int64_t> thousandths() const;

  // Goes over the members or elements: for (JsonValue v : value.items()).
  class Iterator {
   public:
    Iterator(const JsonTree* tree, std::uint32_t node) : tree_(tree), node_(node) {}
    JsonValue operator*() const { return {*tree_, node_}; }
    Iterator& operator++() {
      node_ = tree_->nodes[node_].after;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return node_ != other.node_; }

   private:
    const JsonTree* tree_;
    std::uint32_t node_;
  };
  struct Items {
    const JsonTree* tree;
    std::uint32_t first, last;
    Iterator begin() const { return {tree, first}; }
    Iterator end() const { return {tree, last}; }
  };
  Items items() const;

 private:
  [[noreturn]] void fail(const char* expected) const;
  bool absent() const { return kind() == JsonKind::kMissing || kind() == JsonKind::kNull; }

  const JsonTree* tree_ = nullptr;
  std::uint32_t node_ = 0;
};

// The whole number that a text is: decimal, 0x, or a decimal fraction without a fraction (16.0, 1.6e1), which
// must be below 2^53 then; nothing otherwise.
std::optional<std::int64_t> whole_number(std::string_view text);
// A floating-point number as a whole one, if it is one.
std::optional<std::int64_t> whole_number(double number);
// See JsonValue::thousandths.
std::optional<std::int64_t> decimal_thousandths(std::string_view text);

}  // namespace weft::goal
