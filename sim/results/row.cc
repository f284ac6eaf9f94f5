#include "sim/results/row.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

namespace weft::results {
namespace {

// Which characters are those of a list, without a search for each.
class Characters {
 public:
  explicit constexpr Characters(std::string_view list) {
    for (const char c : list) has_[static_cast<unsigned char>(c)] = true;
  }
  constexpr bool has(char c) const { return has_[static_cast<unsigned char>(c)]; }

 private:
  std::array<bool, 256> has_{};
};

// OWASP, "CSV Injection": what makes a formula of a cell. The guard itself too, so that it can be told apart.
constexpr Characters kGuarded("=+-@\t\r'");
constexpr Characters kQuoted(",\"\n\r");

bool is_guarded(std::string_view text) { return !text.empty() && kGuarded.has(text[0]); }
bool needs_quotes(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return kQuoted.has(c); });
}

void append_quoted(std::string& out, std::string_view text) {
  out += is_guarded(text) ? "\"'" : "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out += '"';
}

void append_text(std::string& out, std::string_view text) {
  if (needs_quotes(text)) return append_quoted(out, text);
  if (is_guarded(text)) out += '\'';
  out += text;
}

// Any number but some reals has at most so many.
constexpr std::size_t kMostChars = 24;

// These write at most so many, and return the end.
template <std::integral Integer>
char* put_number(char* to, Integer value) {
  if (value >= 0 && value < 10) {
    *to = static_cast<char>('0' + value);
    return to + 1;
  }
  return std::to_chars(to, to + kMostChars, value).ptr;
}

char* put_units(char* to, std::uint64_t units, int digits) {
  if (digits == 0) return put_number(to, units);
  char text[kMostChars];
  char* const end = text + sizeof(text);
  char* begin = end;
  for (int i = 0; i < digits; ++i, units /= 10) *--begin = static_cast<char>('0' + units % 10);
  *--begin = '.';
  do {
    *--begin = static_cast<char>('0' + units % 10);
    units /= 10;
  } while (units != 0);
  return std::copy(begin, end, to);
}

char* put_ns(char* to, std::int64_t ps) {
  to = put_number(to, ps / 1000);
  const auto rest = static_cast<int>(ps % 1000);
  if (rest == 0) return to;
  *to++ = '.';
  *to++ = static_cast<char>('0' + rest / 100);
  *to++ = static_cast<char>('0' + rest / 10 % 10);
  *to++ = static_cast<char>('0' + rest % 10);
  return to;
}

// Null: it takes more, or isn't written as it is.
char* put_plain(char* to, std::string_view text) {
  if (text.size() > kMostChars || is_guarded(text)) return nullptr;
  for (const char c : text) {
    if (kQuoted.has(c)) return nullptr;
    *to++ = c;
  }
  return to;
}

// Null: it takes more than kMostChars, or may.
char* put_short(char* to, const Field& field) {
  switch (field.kind) {
    case Field::Kind::kNotKnown:
      return to;
    case Field::Kind::kInteger:
      return put_number(to, field.integer);
    case Field::Kind::kNatural:
      return put_number(to, field.natural);
    case Field::Kind::kTime:
      return put_ns(to, field.integer);
    case Field::Kind::kFixed:
      if (const auto units = units_of(field.real, field.digits)) return put_units(to, *units, field.digits);
      return nullptr;
    case Field::Kind::kText:
      return nullptr;
  }
  return nullptr;
}

void append_long(std::string& out, const Field& field) {
  if (field.kind == Field::Kind::kText) return append_text(out, field.text);
  char text[340];  // the largest double has 309 digits before the point
  const auto fixed = std::chars_format::fixed;
  out.append(text, std::to_chars(text, text + sizeof(text), field.real, fixed, field.digits).ptr);
}

}  // namespace

std::optional<std::uint64_t> units_of(double value, int digits) {
  constexpr double kMost = 1e12, kUnsure = 1.0 / 1024;
  if (digits < 0 || digits >= std::ssize(kPowersOfTen) || std::signbit(value)) return std::nullopt;
  const double scaled = value * kPowersOfTen[digits];
  if (!(scaled < kMost)) return std::nullopt;
  // The product is off by less than 2^-13, which only matters where it is about half way between two.
  const auto below = static_cast<std::uint64_t>(scaled);
  const double rest = scaled - static_cast<double>(below);
  if (std::abs(rest - 0.5) < kUnsure) return std::nullopt;
  return below + (rest > 0.5 ? 1 : 0);
}

void append_csv(std::string& out, const Field& field) {
  char text[kMostChars];
  if (char* const end = put_short(text, field)) {
    out.append(text, end);
  } else {
    append_long(out, field);
  }
}

void append_csv(std::string& out, const Row& row) {
  char line[Row::kMostFields * (kMostChars + 1)];
  char* at = line;
  for (const Field& field : row.fields()) {
    if (char* const end =
            field.kind == Field::Kind::kText ? put_plain(at, field.text) : put_short(at, field)) {
      at = end;
    } else {
      out.append(line, at);
      at = line;
      append_long(out, field);
    }
    *at++ = ',';
  }
  at[-1] = '\n';
  out.append(line, at);
}

std::string csv_field(const std::string& text) {
  std::string field;
  append_text(field, text);
  return field;
}

std::string csv_quoted(const std::string& text) {
  std::string field;
  append_quoted(field, text);
  return field;
}

bool has_csv_guard(std::string_view field) {
  return field.size() > 1 && field[0] == '\'' && kGuarded.has(field[1]);
}

}  // namespace weft::results
