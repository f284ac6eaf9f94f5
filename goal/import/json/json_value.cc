#include "goal/import/json/json_value.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

template <typename Number>
std::optional<Number> parse_whole(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  if (base == 16) return std::nullopt;
  double fraction = 0;
  const auto [behind, wrong] = std::from_chars(text.data(), text.data() + text.size(), fraction);
  if (wrong != std::errc() || behind != text.data() + text.size()) return std::nullopt;
  const std::optional<std::int64_t> whole = whole_number(fraction);
  if (!whole || !std::in_range<Number>(*whole)) return std::nullopt;
  return static_cast<Number>(*whole);
}

// What "1e3" or a number of too many digits is, as near as can be.
std::optional<std::int64_t> thousandths_by_floating_point(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  number *= 1000;
  if (std::abs(number) >= 9.2e18) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

}  // namespace

std::optional<std::int64_t> whole_number(std::string_view text) { return parse_whole<std::int64_t>(text); }

std::optional<std::int64_t> whole_number(double number) {
  constexpr double kMostExact = 9007199254740992.0;  // 2^53
  if (!(std::abs(number) <= kMostExact) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> decimal_thousandths(std::string_view text) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  if (digits.empty() || digits.front() == '.') return std::nullopt;
  std::int64_t number = 0;
  int behind = -1;  // digits behind the point
  for (const char c : digits) {
    if (c == '.' && behind < 0) {
      behind = 0;
    } else if (c < '0' || c > '9') {
      return thousandths_by_floating_point(text);
    } else if (behind < 3) {
      if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, c - '0', &number)) {
        return std::nullopt;
      }
      if (behind >= 0) ++behind;
    }
  }
  for (int i = behind < 0 ? 0 : behind; i < 3; ++i) {
    if (__builtin_mul_overflow(number, 10, &number)) return std::nullopt;
  }
  return negative ? -number : number;
}

JsonValue JsonValue::operator[](std::string_view key) const {
  if (!is_object()) return {};
  for (const JsonValue member : items()) {
    if (member.key() == key) return member;
  }
  return {};
}

std::string_view JsonValue::key() const {
  if (missing()) return {};
  const JsonTree::Node& node = tree_->nodes[node_];
  return std::string_view(tree_->text).substr(node.key, node.key_size);
}

std::string_view JsonValue::text() const {
  if (kind() != JsonKind::kString && kind() != JsonKind::kNumber) return {};
  const JsonTree::Node& node = tree_->nodes[node_];
  return std::string_view(tree_->text).substr(node.text, node.text_size);
}

std::optional<std::int64_t> JsonValue::integer() const { return whole_number(text()); }

std::optional<std::uint64_t> JsonValue::unsigned_integer() const {
  return parse_whole<std::uint64_t>(text());
}

std::optional<bool> JsonValue::boolean() const {
  if (kind() == JsonKind::kTrue || text() == "true" || text() == "True" || text() == "1") return true;
  if (kind() == JsonKind::kFalse || text() == "false" || text() == "False" || text() == "0") return false;
  return std::nullopt;
}

void JsonValue::fail(const char* expected) const {
  const std::string_view found = is_object()                  ? "{…}"
                                 : is_array()                 ? "[…]"
                                 : kind() == JsonKind::kTrue  ? "true"
                                 : kind() == JsonKind::kFalse ? "false"
                                                              : text();
  throw InputError(fmt::format("'{}' is '{}', where {} is expected", key(), found, expected));
}

std::int64_t JsonValue::integer_or(std::int64_t otherwise) const {
  if (absent()) return otherwise;
  const std::optional<std::int64_t> value = integer();
  if (!value) fail("a whole number");
  return *value;
}

std::uint64_t JsonValue::unsigned_or(std::uint64_t otherwise) const {
  if (absent()) return otherwise;
  const std::optional<std::uint64_t> value = unsigned_integer();
  if (!value) fail("a whole number from 0");
  return *value;
}

bool JsonValue::boolean_or(bool otherwise) const {
  if (absent()) return otherwise;
  const std::optional<bool> value = boolean();
  if (!value) fail("true or false");
  return *value;
}

std::optional<std::int64_t> JsonValue::thousandths() const { return decimal_thousandths(text()); }

JsonValue::Items JsonValue::items() const {
  if (!is_object() && !is_array()) return {tree_, 0, 0};
  return {tree_, node_ + 1, tree_->nodes[node_].after};
}

}  // namespace weft::goal
