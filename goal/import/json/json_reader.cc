#include "goal/import/json/json_reader.h"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <utility>

#include "goal/import/json/byte_stream.h"
#include "sim/units/printable.h"

namespace weft::goal {
namespace {

// What RapidJSON reads from.
class Stream {
 public:
  using Ch = char;
  explicit Stream(ByteStream& bytes) : bytes_(&bytes) {}
  char Peek() const { return bytes_->peek(); }
  char Take() { return bytes_->take(); }
  std::size_t Tell() const { return bytes_->position(); }
  // RapidJSON writes only when it reads in place.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  std::size_t PutEnd(char*) { return 0; }

 private:
  ByteStream* bytes_;
};

// Strings are put together in memory from here: no more of it than a tree may have.
class LimitedAllocator {
 public:
  static constexpr bool kNeedFree = true;
  static std::size_t most() { return kMost; }
  void* Malloc(std::size_t size) { return Realloc(nullptr, 0, size); }
  void* Realloc(void* old, std::size_t, std::size_t size) {
    if (size > kMost) throw InputError(fmt::format("a string of more than {} bytes", kMost / 2));
    if (size == 0) {
      std::free(old);
      return nullptr;
    }
    void* grown = std::realloc(old, size);
    if (grown == nullptr) throw std::bad_alloc();
    return grown;
  }
  static void Free(void* memory) { std::free(memory); }

 private:
  static constexpr std::size_t kMost = 128u << 20;
};

using Reader = rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, LimitedAllocator>;

// Puts trees together from what the parser meets, and hands them on.
class Builder {
 public:
  Builder(ByteStream& bytes, const std::vector<std::string>& arrays, const JsonHandlers& handlers,
          const JsonLimits& limits)
      : bytes_(bytes), arrays_(arrays), handlers_(handlers), limits_(limits) {}

  bool Null() { return leaf(JsonKind::kNull); }
  bool Bool(bool value) { return leaf(value ? JsonKind::kTrue : JsonKind::kFalse); }
  bool Int(int) { return false; }  // numbers come as text
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }
  bool RawNumber(const char* text, unsigned size, bool) {
    return leaf(JsonKind::kNumber, std::string_view(text, size));
  }
  bool String(const char* text, unsigned size, bool) {
    return leaf(JsonKind::kString, std::string_view(text, size));
  }
  bool Key(const char* text, unsigned size, bool) {
    const std::string_view key(text, size);
    if (depth_ == 1) {
      member_.assign(key);
      return true;
    }
    key_ = append(key);
    return true;
  }
  bool StartObject() { return open(JsonKind::kObject); }
  bool EndObject(unsigned) { return close(); }
  bool StartArray() { return open(JsonKind::kArray); }
  bool EndArray(unsigned) { return close(); }

  bool stopped() const { return stopped_; }

 private:
  bool is_long_array() const { return std::find(arrays_.begin(), arrays_.end(), member_) != arrays_.end(); }

  // Does this value go into a tree, rather than being what the trees are in?
  bool in_tree() const { return depth_ >= tree_depth_; }

  bool open(JsonKind kind) {
    if (depth_ >= limits_.depth) {
      throw InputError(bytes_.location(), fmt::format("more than {} brackets in brackets", limits_.depth));
    }
    if (depth_ == 0) {
      in_array_ = kind == JsonKind::kArray;
      tree_depth_ = 1;
      ++depth_;
      return true;
    }
    if (depth_ == 1 && !in_array_ && kind == JsonKind::kArray && is_long_array()) {
      in_array_ = true;
      tree_depth_ = 2;
      ++depth_;
      return true;
    }
    begin_node(kind);
    open_.push_back(static_cast<std::uint32_t>(tree_.nodes.size() - 1));
    ++depth_;
    return true;
  }

  bool close() {
    --depth_;
    if (!in_tree()) {
      if (depth_ == 1) {  // the end of a long array
        in_array_ = false;
        tree_depth_ = 1;
      }
      return true;
    }
    tree_.nodes[open_.back()].after = static_cast<std::uint32_t>(tree_.nodes.size());
    open_.pop_back();
    return open_.empty() ? hand_on() : true;
  }

  bool leaf(JsonKind kind, std::string_view text = {}) {
    if (depth_ == 0) throw InputError(bytes_.location(), "a single value; expected an object or an array");
    begin_node(kind);
    JsonTree::Node& node = tree_.nodes.back();
    std::tie(node.text, node.text_size) = append(text);
    return open_.empty() ? hand_on() : true;
  }

  void begin_node(JsonKind kind) {
    if (open_.empty()) {
      where_ = {.line = bytes_.line(), .byte_offset = static_cast<std::int64_t>(bytes_.position())};
      // Names of members of the outermost object stand outside of the tree.
      key_ = depth_ == 1 && !in_array_ ? append(member_) : std::pair<std::uint32_t, std::uint32_t>{0, 0};
    }
    if (tree_.nodes.size() >= limits_.value_nodes) {
      throw InputError(bytes_.location(),
                       fmt::format("more than {} values in one element", limits_.value_nodes));
    }
    JsonTree::Node node{.kind = kind, .after = static_cast<std::uint32_t>(tree_.nodes.size() + 1)};
    std::tie(node.key, node.key_size) = key_;
    key_ = {0, 0};
    tree_.nodes.push_back(node);
  }

  std::pair<std::uint32_t, std::uint32_t> append(std::string_view text) {
    if (text.size() > limits_.value_bytes - std::min<std::size_t>(tree_.text.size(), limits_.value_bytes)) {
      throw InputError(bytes_.location(),
                       fmt::format("more than {} bytes of text in one element", limits_.value_bytes));
    }
    const auto at = static_cast<std::uint32_t>(tree_.text.size());
    tree_.text.append(text);
    return {at, static_cast<std::uint32_t>(text.size())};
  }

  bool hand_on() {
    where_.file = bytes_.path();
    bool go_on = true;
    try {
      if (!in_array_) {
        if (handlers_.member) go_on = handlers_.member(JsonValue(tree_, 0), where_);
      } else if (handlers_.element) {
        go_on = handlers_.element(member_, JsonValue(tree_, 0), where_);
      }
    } catch (const InputError& error) {
      if (!error.location().file.empty()) throw;
      throw InputError(where_, error.what());
    }
    tree_.clear();
    stopped_ = !go_on;
    return go_on;
  }

  ByteStream& bytes_;
  const std::vector<std::string>& arrays_;
  const JsonHandlers& handlers_;
  const JsonLimits& limits_;
  JsonTree tree_;
  std::vector<std::uint32_t> open_;  // the objects and arrays in the tree that have not ended
  SourceLocation where_;             // of the tree
  std::string member_;               // of the outermost object
  std::pair<std::uint32_t, std::uint32_t> key_{0, 0};
  int depth_ = 0, tree_depth_ = 1;
  bool in_array_ = false, stopped_ = false;
};

void parse(ByteStream& bytes, Builder& builder) {
  constexpr unsigned kFlags = rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseNanAndInfFlag |
                              rapidjson::kParseStopWhenDoneFlag;
  Stream stream(bytes);
  Reader reader;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (builder.stopped()) return;
  if (result.IsError()) {
    const char next = bytes.peek();
    throw InputError(bytes.location(),
                     fmt::format("not JSON: {} {}", rapidjson::GetParseError_En(result.Code()),
                                 bytes.at_end() ? std::string("The file ends here.")
                                                : fmt::format("Found '{}'.", printable({&next, 1}))));
  }
  rapidjson::SkipWhitespace(stream);
  if (!bytes.at_end()) {
    throw InputError(bytes.location(), "not JSON: something stands behind the end of the document");
  }
}

void read(ByteStream& bytes, const std::vector<std::string>& arrays, const JsonHandlers& handlers,
          const JsonLimits& limits) {
  Builder builder(bytes, arrays, handlers, limits);
  try {
    parse(bytes, builder);
  } catch (const InputError& error) {
    if (!error.location().file.empty()) throw;
    throw InputError(bytes.location(), error.what());
  }
}

}  // namespace

void read_json(const std::string& path, const std::vector<std::string>& arrays, const JsonHandlers& handlers,
               const JsonLimits& limits) {
  ByteStream bytes(path);
  read(bytes, arrays, handlers, limits);
}

void read_json_text(std::string_view text, const std::string& name, const std::vector<std::string>& arrays,
                    const JsonHandlers& handlers, const JsonLimits& limits) {
  ByteStream bytes(text, name);
  read(bytes, arrays, handlers, limits);
}

}  // namespace weft::goal
