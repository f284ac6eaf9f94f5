// Rows of CSV, put together fast: tables have many.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/units/quantity.h"

namespace weft::results {

// A number with so many digits behind the point.
struct Fixed {
  double value = 0;
  int digits = 6;
};
struct NotKnown {};  // an empty field

inline void append_field(std::string& row, NotKnown) { (void)row; }
// As it is: what divides fields is for the caller to put in quotes.
inline void append_field(std::string& row, std::string_view text) { row += text; }
template <std::integral Integer>
void append_field(std::string& row, Integer value) {
  char text[24];
  row.append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}
inline void append_field(std::string& row, Fixed number) {
  char text[340];  // the largest double has 309 digits before the point
  const auto end =
      std::to_chars(text, text + sizeof(text), number.value, std::chars_format::fixed, number.digits);
  row.append(text, end.ptr);
}
// In nanoseconds, as to_ns_string().
inline void append_field(std::string& row, Time time) {
  append_field(row, time.ps() / 1000);
  const auto rest = static_cast<int>(time.ps() % 1000);
  if (rest == 0) return;
  const char text[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                       static_cast<char>('0' + rest % 10)};
  row.append(text, sizeof(text));
}
template <typename Value>
void append_field(std::string& row, const std::optional<Value>& value) {
  if (value) append_field(row, *value);
}

// Fields with a comma behind each; end_row() makes the last one a newline.
template <typename... Fields>
void append_fields(std::string& row, const Fields&... fields) {
  ((append_field(row, fields), row += ','), ...);
}
inline void end_row(std::string& row) { row.back() = '\n'; }
template <typename... Fields>
void append_row(std::string& row, const Fields&... fields) {
  append_fields(row, fields...);
  end_row(row);
}

}  // namespace weft::results
