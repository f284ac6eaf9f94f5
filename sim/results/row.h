// Rows of tables: fields that know what they are, for whoever writes them. CSV has them as text.
#pragma once

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sim/units/quantity.h"

namespace weft::results {

// A number with so many digits behind the point.
struct Fixed {
  double value = 0;
  int digits = 6;
};
struct NotKnown {};  // an empty field

struct Field {
  enum class Kind : std::uint8_t { kNotKnown, kInteger, kNatural, kFixed, kTime, kText };

  Field() = default;
  explicit Field(NotKnown) {}
  template <std::signed_integral Integer>
  explicit Field(Integer value) : kind(Kind::kInteger), integer(value) {}
  template <std::unsigned_integral Natural>
  explicit Field(Natural value) : kind(Kind::kNatural), natural(value) {}
  explicit Field(Fixed number) : kind(Kind::kFixed), digits(number.digits), real(number.value) {}
  explicit Field(Time time) : kind(Kind::kTime), integer(time.ps()) {}
  // As it is, not as CSV quotes it; what it points to is the caller's. An empty one is not known.
  explicit Field(std::string_view value) : kind(value.empty() ? Kind::kNotKnown : Kind::kText), text(value) {}
  explicit Field(const char* value) : Field(std::string_view(value)) {}
  explicit Field(const std::string& value) : Field(std::string_view(value)) {}
  template <typename Value>
  explicit Field(const std::optional<Value>& value) : Field(value ? Field(*value) : Field()) {}

  Kind kind = Kind::kNotKnown;
  int digits = 0;  // of kFixed
  union {
    std::int64_t integer = 0;  // of kTime, ps
    std::uint64_t natural;
    double real;
  };
  std::string_view text;
};

// Used again for each row of a table, so that none needs memory of its own.
class Row {
 public:
  static constexpr std::size_t kMostFields = 24;

  void clear() {
    size_ = 0;
    if (!kept_.empty()) kept_.clear();
  }
  // REQUIRES: no more than kMostFields in all.
  template <typename... Values>
  void add(const Values&... values) {
    assert(size_ + sizeof...(values) <= kMostFields);
    ((fields_[size_++] = Field(values)), ...);
  }
  // A text that nobody else has.
  void add_kept(std::string text) { add(kept_.emplace_back(std::move(text))); }
  std::span<const Field> fields() const { return {fields_.data(), size_}; }

 private:
  std::array<Field, kMostFields> fields_;
  std::size_t size_ = 0;
  std::deque<std::string> kept_;
};

// By how many digits are behind the point. All are exact.
inline constexpr double kPowersOfTen[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

// The value in units of its last digit, if it has so many behind the point and is rounded as CSV has it;
// nothing where that takes more than a multiplication to tell, as with negative and very large numbers.
std::optional<std::uint64_t> units_of(double value, int digits);

// The field as CSV has it; times are in nanoseconds, as to_ns_string() has them.
void append_csv(std::string& out, const Field& field);
// All fields with commas between, and a newline. REQUIRES: there is one.
void append_csv(std::string& out, const Row& row);

// A text as a field: in quotes where it holds what divides fields. Where it begins with what a spreadsheet
// would take for a formula (= + - @, a tab or a carriage return), or with ', one ' stands before it, which
// readers take off; SqliteRows does.
std::string csv_field(const std::string& text);
// Gives a text as csv_field() does, but in quotes always.
std::string csv_quoted(const std::string& text);
// Does this field, without its quotes, have that ' before it?
bool has_csv_guard(std::string_view field);

}  // namespace weft::results
