#include "sim/units/module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <compare>
#include <utility>

#include "sim/units/brackets.h"

namespace weft {
namespace {

constexpr std::string_view kAutomatic = "auto";

std::string did_you_mean(const std::string& nearest) {
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

template <typename Number>
Number parse_number(std::string_view text, std::string_view expected) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
    throw InputError(fmt::format("'{}' is not {}", text, expected));
  }
  if (error != std::errc()) throw InputError(fmt::format("'{}' is out of range", text));
  return value;
}

std::int64_t parse_integer(std::string_view text) {
  return parse_number<std::int64_t>(text, "a whole number");
}
double parse_real(std::string_view text) {
  const auto value = parse_number<double>(text, "a number");
  if (!std::isfinite(value)) throw InputError(fmt::format("'{}' is not a finite number", text));
  return value;
}

bool parse_boolean(std::string_view text) {
  if (text == "true" || text == "1" || text == "yes") return true;
  if (text == "false" || text == "0" || text == "no") return false;
  throw InputError(fmt::format("'{}' is not true or false", text));
}

void check_type(ParameterType type, std::string_view text) {
  switch (type) {
    case ParameterType::kInteger:
      parse_integer(text);
      return;
    case ParameterType::kReal:
      parse_real(text);
      return;
    case ParameterType::kBoolean:
      parse_boolean(text);
      return;
    case ParameterType::kText:
    case ParameterType::kFile:
    case ParameterType::kNameOrFile:
    case ParameterType::kTopologies:
      return;
    case ParameterType::kTime:
      parse_time(text);
      return;
    case ParameterType::kBandwidth:
      parse_bandwidth(text);
      return;
    case ParameterType::kBytes:
      parse_bytes(text);
      return;
  }
}

// Compares two values in text form. REQUIRES: both are of `type`, which has an order.
std::partial_ordering compare(ParameterType type, std::string_view a, std::string_view b) {
  switch (type) {
    case ParameterType::kInteger:
      return parse_integer(a) <=> parse_integer(b);
    case ParameterType::kReal:
      return parse_real(a) <=> parse_real(b);
    case ParameterType::kTime:
      return parse_time(a) <=> parse_time(b);
    case ParameterType::kBandwidth:
      return parse_bandwidth(a) <=> parse_bandwidth(b);
    case ParameterType::kBytes:
      return parse_bytes(a) <=> parse_bytes(b);
    case ParameterType::kBoolean:
    case ParameterType::kText:
    case ParameterType::kFile:
    case ParameterType::kNameOrFile:
    case ParameterType::kTopologies:
      break;
  }
  throw std::logic_error("a parameter without an order has a least or greatest value");
}

bool is_within(const Limits& limits, ParameterType type, const std::string& value) {
  if (!limits.one_of.empty() && std::ranges::find(limits.one_of, value) == limits.one_of.end()) return false;
  return (limits.least.empty() || compare(type, value, limits.least) >= 0) &&
         (limits.above.empty() || compare(type, value, limits.above) > 0) &&
         (limits.most.empty() || compare(type, value, limits.most) <= 0) &&
         (limits.below.empty() || compare(type, value, limits.below) < 0);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

bool is_text(ParameterType type) {
  return type == ParameterType::kText || type == ParameterType::kFile || type == ParameterType::kNameOrFile ||
         type == ParameterType::kTopologies;
}

std::string to_string(const Limits& limits) {
  if (!limits.one_of.empty()) {
    std::string text = limits.one_of.front();
    for (std::size_t i = 1; i < limits.one_of.size(); ++i) {
      text += (i + 1 < limits.one_of.size() ? ", " : " or ") + limits.one_of[i];
    }
    return text;
  }
  if (!limits.least.empty() && !limits.most.empty()) {
    return fmt::format("from {} to {}", limits.least, limits.most);
  }
  const auto clause = [](const char* word, const std::string& limit) {
    return limit.empty() ? limit : fmt::format("{} {}", word, limit);
  };
  const std::string lower = clause("at least", limits.least) + clause("above", limits.above);
  const std::string upper = clause("at most", limits.most) + clause("below", limits.below);
  return lower.empty() || upper.empty() ? lower + upper : fmt::format("{} and {}", lower, upper);
}

std::string describe(const ParameterSpec& spec) {
  const std::string limits = to_string(spec.limits);
  return limits.empty() ? spec.help : fmt::format("{} It must be {}.", spec.help, limits);
}

Parameters::Parameters(const ModuleInfo& module, const std::map<std::string, std::string>& given,
                       const SourceLocation& location)
    : module_name_(module.name), location_(location) {
  read(module, given);
}

void Parameters::read(const ModuleInfo& module, const std::map<std::string, std::string>& given) {
  std::vector<std::string> names;
  for (const ParameterSpec& spec : module.parameters) names.push_back(spec.name);
  for (const auto& [name, value] : given) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      fail_unknown_name("parameter of " + module.name, name, names, location_of(name));
    }
  }
  for (const ParameterSpec& spec : module.parameters) {
    const auto found = given.find(spec.name);
    const std::string& value = found != given.end() ? found->second : spec.default_value;
    if (value.empty() && !is_text(spec.type)) {
      throw InputError(location_of(spec.name),
                       fmt::format("{} needs a value for '{}': {}", module.name, spec.name, describe(spec)));
    }
    try {
      if (spec.default_value != kAutomatic || value != kAutomatic) check_type(spec.type, value);
    } catch (const InputError& error) {
      throw InputError(location_of(spec.name),
                       fmt::format("{}: {}: {}", module.name, spec.name, error.what()));
    }
    values_.emplace_back(spec.name, value);
    check_limits(spec, value);
  }
}

void Parameters::check_limits(const ParameterSpec& spec, const std::string& value) const {
  const bool is_word_for_default = value == spec.default_value && (value.empty() || value == kAutomatic);
  if (is_word_for_default || is_within(spec.limits, spec.type, value)) return;
  const std::vector<std::string>& words = spec.limits.one_of;
  const bool takes_auto =
      spec.default_value == kAutomatic && std::ranges::find(words, kAutomatic) == words.end();
  fail(spec.name, fmt::format("it must be {}{}{}", to_string(spec.limits), takes_auto ? ", or auto" : "",
                              did_you_mean(nearest_name(value, words))));
}

const std::string& Parameters::find(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  throw std::logic_error(fmt::format("module {} has no parameter {}", module_name_, name));
}

const SourceLocation& Parameters::location_of(std::string_view name) const {
  const auto found = locations_.find(std::string(name));
  return found == locations_.end() ? location_ : found->second;
}

std::int64_t Parameters::integer(std::string_view name) const { return parse_integer(find(name)); }
std::uint32_t Parameters::whole(std::string_view name) const {
  const std::int64_t value = integer(name);
  if (std::in_range<std::uint32_t>(value)) return static_cast<std::uint32_t>(value);
  throw std::logic_error(fmt::format("{}: limits of {} let {} through", module_name_, name, value));
}

double Parameters::real(std::string_view name) const { return parse_real(find(name)); }
bool Parameters::boolean(std::string_view name) const { return parse_boolean(find(name)); }
const std::string& Parameters::text(std::string_view name) const { return find(name); }
std::string Parameters::file(std::string_view name) const {
  return std::string(without_brackets(find(name)));
}
Time Parameters::time(std::string_view name) const { return parse_time(find(name)); }
Bandwidth Parameters::bandwidth(std::string_view name) const { return parse_bandwidth(find(name)); }
std::uint64_t Parameters::bytes(std::string_view name) const { return parse_bytes(find(name)); }

bool Parameters::automatic(std::string_view name) const { return find(name) == kAutomatic; }

void Parameters::fail(std::string_view name, const std::string& requirement) const {
  throw InputError(location_of(name),
                   fmt::format("{}: {} is '{}', but {}", module_name_, name, find(name), requirement));
}

ModuleChoice parse_module_choice(std::string_view text) {
  const auto fail = [&](const std::string& why) {
    return InputError(fmt::format("'{}' {}; write NAME or NAME:key=value,key=value", text, why));
  };
  ModuleChoice choice;
  const std::size_t colon = text.find(':');
  choice.name = text.substr(0, colon);
  if (choice.name.empty()) throw fail("has no name");
  if (colon == std::string_view::npos) return choice;
  std::string_view rest = text.substr(colon + 1);
  while (!rest.empty()) {
    std::size_t end = 0;
    int depth = 0;
    for (; end < rest.size() && (rest[end] != ',' || depth > 0); ++end) {
      depth += rest[end] == '[' ? 1 : rest[end] == ']' ? -1 : 0;
    }
    const std::string_view item = rest.substr(0, end);
    if (depth > 0) throw fail(fmt::format("has a [ without its ] in '{}'", item));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      throw fail(fmt::format("has '{}' where key=value was expected", item));
    }
    const auto [position, inserted] =
        choice.given.emplace(std::string(item.substr(0, equals)), std::string(item.substr(equals + 1)));
    if (!inserted) throw fail(fmt::format("gives '{}' twice", position->first));
  }
  return choice;
}

std::string to_short_form(std::string_view name, const Parameters& parameters) {
  std::string text(name);
  char separator = ':';
  for (const auto& [key, value] : parameters.values()) {
    text += fmt::format("{}{}={}", separator, key, value);
    separator = ',';
  }
  return text;
}

std::string nearest_name(std::string_view word, std::span<const std::string> known) {
  // Among equally near ones that wins with fewer letters which the word does not have: users are more likely
  // to hit a key twice than to mean another one.
  using Rating = std::pair<std::size_t, std::ptrdiff_t>;
  std::string best;
  Rating best_rating{std::max<std::size_t>(2, word.size() / 3) + 1, 0};
  for (const std::string& name : known) {
    const auto strange = [&](char letter) { return word.find(letter) == std::string_view::npos; };
    const Rating rating{edit_distance(word, name), std::count_if(name.begin(), name.end(), strange)};
    if (rating < best_rating && rating.first < std::max(word.size(), name.size())) {
      best_rating = rating;
      best = name;
    }
  }
  return best;
}

// What papers and other simulators call it; "": nothing here.
static std::string name_elsewhere(std::string_view kind, std::string_view word,
                                  std::span<const std::string> known) {
  struct Name {
    std::string_view kind, word, ours;
  };
  static constexpr Name kNames[] = {
      {"routing policy", "min", "minimal"},         {"routing policy", "vlb", "valiant"},
      {"routing policy", "val", "valiant"},         {"routing policy", "adaptive", "ugal"},
      {"routing policy", "ugal_l", "ugal"},         {"routing policy", "ar", "minimal_adaptive"},
      {"routing policy", "dor", "dimension_order"}, {"routing policy", "xy", "dimension_order"},
      {"routing policy", "ksp", "k_shortest"},      {"routing policy", "ops", "spray"},
      {"routing policy", "ftree", "d_mod_k"},
  };
  const auto* const found =
      std::ranges::find_if(kNames, [&](const Name& name) { return name.kind == kind && name.word == word; });
  if (found == std::end(kNames) || std::ranges::find(known, found->ours) == known.end()) return "";
  return std::string(found->ours);
}

void fail_unknown_name(std::string_view kind, std::string_view word, std::span<const std::string> known,
                       const SourceLocation& location) {
  constexpr std::size_t kMany = 16;  // a longer list is left out where the nearest name is told
  const std::string elsewhere = name_elsewhere(kind, word, known);
  const std::string nearest = elsewhere.empty() ? nearest_name(word, known) : elsewhere;
  const std::string list = known.empty() ? " (there is none)"
                           : !nearest.empty() && known.size() > kMany
                               ? ""
                               : fmt::format(" (known: {})", fmt::join(known, ", "));
  throw InputError(location, fmt::format("'{}' is not a {}{}{}", word, kind, did_you_mean(nearest), list));
}

}  // namespace weft
