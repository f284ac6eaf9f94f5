#include "topologies/import/cables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "sim/units/input_error.h"
#include "topologies/export/formats.h"
#include "topologies/import/attributes.h"
#include "topologies/import/lines.h"
#include "topologies/import/vendor_units.h"

namespace weft::topologies {
namespace {

constexpr std::pair<std::string_view, double> kLengthUnits[] = {
    {"m", 1},
    {"meter", 1},
    {"meters", 1},
    {"metre", 1},
    {"metres", 1},
    {"km", 1000},
    {"kilometer", 1e3},
    {"kilometers", 1e3},
    {"kilometre", 1e3},
    {"kilometres", 1e3},
    {"cm", 0.01},
    {"centimeter", 0.01},
    {"centimeters", 0.01},
    {"centimetres", 0.01},
    {"mm", 0.001},
    {"ft", 0.3048},
    {"foot", 0.3048},
    {"feet", 0.3048},
    {"in", 0.0254},
    {"inch", 0.0254},
    {"inches", 0.0254},
    {"mi", 1609.344},
    {"mile", 1609.344},
    {"miles", 1609.344},
};

std::optional<double> metres_in(std::string_view unit) {
  const std::string word = lower_case(unit);
  for (const auto& [name, factor] : kLengthUnits) {
    if (word == name) return factor;
  }
  return std::nullopt;
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// "OM4" and "AOC10M" begin with om4 and aoc, "access" with no acc.
bool begins_with_word(std::string_view token, std::string_view word) {
  return token.starts_with(word) && (token.size() == word.size() || !is_letter(token[word.size()]));
}

std::vector<std::string_view> split(std::string_view text, std::string_view between) {
  std::vector<std::string_view> parts;
  for (std::size_t at = text.find_first_not_of(between); at != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(between, end);
  }
  return parts;
}

std::optional<CableKind> kind_in(std::string_view text) {
  const std::string word = lower_case(text);
  const std::vector<std::string_view> tokens = split(word, " ,;/()[]_-+.");
  const auto holds = [&](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return word.find(part) != word.npos; });
  };
  const auto begins = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(tokens.begin(), tokens.end(), [&](std::string_view token) {
      return std::any_of(words.begin(), words.end(),
                         [&](std::string_view each) { return begins_with_word(token, each); });
    });
  };
  if (holds({"dac", "copper", "twinax"}) ||
      begins({"acc", "aec", "cu", "coax", "cat5", "cat5e", "cat6", "cat6a", "cat7", "cat7a", "cat8"}))
    return CableKind::kCopper;
  if (holds({"aoc", "optic", "fiber", "fibre"}) ||
      begins({"smf", "mmf", "om1", "om2", "om3", "om4", "om5", "os1", "os2", "multimode", "singlemode"}))
    return CableKind::kOptical;
  if (holds({"backplane"})) return CableKind::kBackplane;
  try {
    return parse_cable(text);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// The one length in it. In part numbers, whose letters are all large, M is metres behind a cable's kind.
std::optional<double> length_in(std::string_view text) {
  std::optional<double> found;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && (is_digit(text[at]) || text[at] == '.')) ++at;
    const std::string_view number = text.substr(begin, at - begin);
    std::size_t unit = at;
    while (unit < text.size() && text[unit] == ' ') ++unit;
    std::size_t end = unit;
    while (end < text.size() && is_letter(text[end])) ++end;
    const std::string_view word = text.substr(unit, end - unit);
    const std::string before = lower_case(text.substr(0, begin));
    const bool after_kind = before.ends_with("cu") || before.ends_with("aoc") || before.ends_with("dac");
    const bool apart = begin == 0 || !(is_letter(text[begin - 1]) || text[begin - 1] == '.');
    const bool ends = end == text.size() || !is_digit(text[end]);
    const bool large = word == "M" && unit == at;
    if (!ends || !(large ? after_kind : apart || after_kind)) continue;
    const auto factor = metres_in(word);
    const auto value = finite_number(number);
    if (word == "in" && end != text.size()) continue;  // the word
    if (!factor || !value || (found && *found != *value * *factor)) continue;
    found = *value * *factor;
  }
  return found;
}

// "100G", "400GbE" or "NDR"; nothing if two of them differ.
std::optional<Bandwidth> rate_in(std::string_view text) {
  std::optional<Bandwidth> found;
  for (const std::string_view token : split(text, " ,;()[]_-")) {
    const bool number = is_digit(token.front()) && lower_case(token).find_first_of("gt") != token.npos;
    if (!number && !is_rate_name(token)) continue;
    try {
      const Bandwidth rate = rate_attribute(token);
      if (found && *found != rate) return std::nullopt;
      found = rate;
    } catch (const InputError&) {
      continue;
    }
  }
  return found;
}

}  // namespace

CableWords cable_words(std::string_view text) {
  return {.kind = kind_in(text), .metres = length_in(text), .rate = rate_in(text)};
}

std::optional<double> metres_of(std::string_view text) {
  const std::size_t end = text.find_last_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
  if (end == text.npos) return std::nullopt;
  const std::string_view unit = text.substr(end + 1);
  std::string_view number = text.substr(0, end + 1);
  while (number.ends_with(' ')) number.remove_suffix(1);
  const std::optional<double> value = finite_number(number);
  if (unit.empty() || !value) return value;
  const std::optional<double> factor = metres_in(unit);
  return factor ? std::optional(*value * *factor) : std::nullopt;
}

}  // namespace weft::topologies
