#include "sim/results/row.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace weft::results {
namespace {

// OWASP, "CSV Injection": what makes a formula of a cell. The guard itself too, so that it can be told apart.
constexpr std::string_view kGuarded = "=+-@\t\r'";

bool is_guarded(std::string_view text) {
  return !text.empty() && kGuarded.find(text[0]) != std::string_view::npos;
}

bool needs_quotes(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return c == ',' || c == '"' || c == '\n' || c == '\r'; });
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

template <std::integral Integer>
void append_number(std::string& out, Integer value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

void append_fixed(std::string& out, double value, int digits) {
  if (const std::optional<std::uint64_t> units = units_of(value, digits)) {
    char text[24];
    char* const end = text + sizeof(text);
    char* begin = end;
    std::uint64_t rest = *units;
    for (int i = 0; i < digits; ++i, rest /= 10) *--begin = static_cast<char>('0' + rest % 10);
    if (digits > 0) *--begin = '.';
    do {
      *--begin = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    out.append(begin, end);
    return;
  }
  char text[340];  // the largest double has 309 digits before the point
  out.append(text, std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, digits).ptr);
}

void append_ns(std::string& out, std::int64_t ps) {
  append_number(out, ps / 1000);
  const auto rest = static_cast<int>(ps % 1000);
  if (rest == 0) return;
  const char text[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                       static_cast<char>('0' + rest % 10)};
  out.append(text, sizeof(text));
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
  switch (field.kind) {
    case Field::Kind::kNotKnown:
      return;
    case Field::Kind::kInteger:
      return append_number(out, field.integer);
    case Field::Kind::kNatural:
      return append_number(out, field.natural);
    case Field::Kind::kFixed:
      return append_fixed(out, field.real, field.digits);
    case Field::Kind::kTime:
      return append_ns(out, field.integer);
    case Field::Kind::kText:
      return append_text(out, field.text);
  }
}

void append_csv(std::string& out, const Row& row) {
  for (const Field& field : row.fields()) {
    append_csv(out, field);
    out += ',';
  }
  out.back() = '\n';
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
  return field.size() > 1 && field[0] == '\'' && kGuarded.find(field[1]) != std::string_view::npos;
}

}  // namespace weft::results
