#include "topologies/import/named_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>

#include "sim/units/input_error.h"
#include "topologies/import/attributes.h"
#include "topologies/import/cables.h"
#include "topologies/import/lines.h"
#include "topologies/import/vendor_units.h"

namespace weft::topologies {
namespace {

// A value whose name has one of these is of another thing than the cable, whatever its unit.
constexpr std::string_view kOtherThings[] = {"jitter",      "rtt",         "used",    "usage",
                                             "utilization", "utilisation", "load",    "free",
                                             "timeout",     "traffic",     "interval"};

// What a cable's status may be, without signs: NetBox's words and those of switches' lists of interfaces.
constexpr std::string_view kInUse[] = {"connected", "up",      "active",    "online", "in service",
                                       "in use",    "enabled", "installed", "live",   "operational"};
constexpr std::string_view kNotInUse[] = {
    "planned",  "down",          "decommissioning", "decommissioned", "offline",
    "disabled", "inactive",      "failed",          "removed",        "retired",
    "reserved", "admin down",    "notconnect",      "disconnected",   "notpresent",
    "spare",    "not connected", "staged",          "not installed",  "err disabled"};

template <std::size_t kSize>
bool is_listed(const std::string_view (&list)[kSize], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

std::string plain(std::string_view text) {
  std::string joined;
  for (const std::string& word : words_of(text)) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

// Power cords and console cables stand in the same inventories: NetBox's types `power`, `dcim.poweroutlet`.
bool carries_no_messages(std::string_view text) {
  std::string type = plain(text);
  if (type.starts_with("dcim ")) type.erase(0, 5);
  return type.starts_with("power") || type.starts_with("console");
}

bool is_type(const NamedMeaning& named) {
  return named.meaning == Meaning::kCable || named.words.ends_with(" type") ||
         named.words.starts_with("type ");
}

constexpr double kMostMetres = 1e9;

bool is_bare(std::string_view text) { return finite_number(text).has_value(); }

template <typename Read>
auto if_readable(const Read& read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// Other texts are no quantity, which is found out faster so than by two refusals.
bool begins_number(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t+-.");
  return first != text.npos && std::isdigit(static_cast<unsigned char>(text[first])) != 0;
}

}  // namespace

void set_rates(ImportedLink& link, std::string_view text) {
  const auto one = if_readable([&] { return parse_bandwidth(standard_rate(text)); });
  for (std::size_t at = text.find('/'); !one && at != text.npos; at = text.find('/', at + 1)) {
    const auto there = if_readable([&] { return rate_attribute(text.substr(0, at)); });
    const auto back = if_readable([&] { return rate_attribute(text.substr(at + 1)); });
    if (!there || !back || is_bare(text.substr(at + 1))) continue;
    link.rate = there;
    if (*back != *there) link.back_rate = back;
    return;
  }
  link.rate = rate_attribute(text);
}

bool LinkValues::ignores(std::string_view name) const {
  return std::find(ignored_.begin(), ignored_.end(), name) != ignored_.end();
}

template <typename Value>
bool LinkValues::taken(bool there, const Value& old, const Value& value, std::string_view name) {
  if (there && old != value) skip(name);
  return there;
}

// How a number without a unit could get one.
[[noreturn]] static void fail_without_unit(const NamedMeaning& named, std::string_view name,
                                           std::string_view text) {
  const bool time = named.meaning == Meaning::kLatency;
  throw InputError(
      fmt::format("'{}' has no unit; write it like {}, call the attribute like {}_{}, or leave it unread "
                  "with ignore=[{}]",
                  text, time ? "5us" : "400Gbps", name, time ? "us" : "gbps", name));
}

void LinkValues::set_by_name(ImportedLink& link, const NamedMeaning& named, std::string_view name,
                             std::string_view text) {
  std::string value(text);
  const bool bare = is_bare(text) && named.unit.empty();
  if (is_bare(text)) value += named.unit;
  switch (named.meaning) {
    case Meaning::kRate: {
      if (bare) fail_without_unit(named, name, text);
      ImportedLink read;
      set_rates(read, value);
      if (taken(link.rate.has_value(), link.rate, read.rate, name)) return;
      link.rate = read.rate;
      if (read.back_rate) link.back_rate = read.back_rate;
      return;
    }
    case Meaning::kBackRate: {
      if (bare) fail_without_unit(named, name, text);
      const std::optional<Bandwidth> rate = rate_attribute(value);
      if (!taken(link.back_rate.has_value(), link.back_rate, rate, name)) link.back_rate = rate;
      return;
    }
    case Meaning::kLatency: {
      if (bare) fail_without_unit(named, name, text);
      const std::optional<Time> time = time_attribute(value, Time::ns(1));
      if (!taken(link.latency.has_value(), link.latency, time, name)) link.latency = time;
      return;
    }
    case Meaning::kLength: {
      const std::optional<double> length = metres_of(value);
      if (!length || *length < 0 || *length > kMostMetres) {
        throw InputError(fmt::format("'{}' is not a length from 0 to 1e9 m; write it like 5m", text));
      }
      if (taken(link.length_m > 0, link.length_m, static_cast<float>(*length), name)) return;
      if (bare) guessed_.emplace(name, "lengths in metres, as they have no unit");
      link.length_m = static_cast<float>(*length);
      return;
    }
    case Meaning::kLoss: {
      const double loss = loss_attribute(value);
      if (!taken(link.loss > 0, link.loss, loss, name)) link.loss = loss;
      return;
    }
    default:
      return;
  }
}

// Under a name that says nothing, a value with a unit of rates or of times is one, if there is none yet.
bool LinkValues::set_by_unit(ImportedLink& link, std::string_view name, std::string_view text) {
  const std::vector<std::string> words = words_of(name);
  const bool other = std::any_of(words.begin(), words.end(),
                                 [](const std::string& word) { return is_listed(kOtherThings, word); });
  if (other || is_bare(text) || !(begins_number(text) || is_rate_name(text))) return false;
  const auto rate = if_readable([&] { return rate_attribute(text); });
  const auto time = if_readable([&] { return time_attribute(text, Time::ns(1)); });
  if (rate && !link.rate) {
    link.rate = rate;
    guessed_.emplace(name, "rates by their units");
    return true;
  }
  if (time && !link.latency) {
    link.latency = time;
    guessed_.emplace(name, "latencies by their units");
    return true;
  }
  return (rate && link.rate == rate) || (time && link.latency == time);
}

const NamedMeaning& LinkValues::known_meaning(std::string_view name) {
  const auto found = meanings_.find(name);
  if (found != meanings_.end()) return found->second;
  return meanings_.emplace(name, meaning_of(name)).first->second;
}

std::vector<LinkValues::Named> LinkValues::with_units(std::vector<Named> values) {
  joined_.clear();
  for (std::size_t u = 0; u < values.size();) {
    const std::string& of = known_meaning(values[u].first).unit_of;
    const std::string_view unit = values[u].second;
    const auto used = of.empty() || ignores(values[u].first)
                          ? values.end()
                          : std::find_if(values.begin(), values.end(), [&](const Named& value) {
                              return known_meaning(value.first).words == of && !ignores(value.first) &&
                                     (value.second.empty() || is_bare(value.second));
                            });
    if (used == values.end()) {
      ++u;
      continue;
    }
    if (!unit.empty() && !used->second.empty()) {
      joined_.push_back(fmt::format("{}{}", used->second, unit));
      used->second = joined_.back();
    }
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(u));
  }
  return values;
}

// How many cables a row or an edge is. A link that isn't in use is told and not built, like cords without
// data.
std::uint32_t LinkValues::count_of(const std::vector<Named>& values) {
  std::uint32_t count = 1;
  for (const auto& [name, text] : values) {
    const NamedMeaning& named = known_meaning(name);
    if (text.empty() || ignores(name)) continue;
    const bool not_in_use = named.meaning == Meaning::kStatus && is_listed(kNotInUse, plain(text));
    if (not_in_use || (is_type(named) && carries_no_messages(text))) {
      ++left_out_[{std::string(name), std::string(text)}];
      return 0;
    }
    if (named.meaning == Meaning::kStatus && !is_listed(kInUse, plain(text))) skip(name);
    if (named.meaning != Meaning::kCount) continue;
    constexpr std::uint32_t kMost = 65535;
    const std::optional<std::uint64_t> number = whole_number(text);
    if (!number || *number < 1 || *number > kMost) {
      throw InputError(
          fmt::format("{}: '{}' is not a number of cables from 1 to {}", shortened(name), text, kMost));
    }
    count = static_cast<std::uint32_t>(*number);
  }
  return count;
}

static Bandwidth end_rate(const NamedMeaning& named, std::string_view name, std::string_view text) {
  try {
    const bool bare = is_bare(text);
    if (bare && named.unit.empty()) fail_without_unit(named, name, text);
    return rate_attribute(std::string(text) + (bare ? named.unit : ""));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", shortened(name), error.what()));
  }
}

// Ports of two rates agree on the slower. The rate that a cable has itself goes before.
void LinkValues::set_end_rates(ImportedLink& link, const std::vector<Named>& values) {
  const bool has_own = link.rate.has_value();
  for (const auto& [name, text] : values) {
    const NamedMeaning& named = known_meaning(name);
    if (named.meaning != Meaning::kEndRate || text.empty()) continue;
    if (ignores(name)) {
      skip(name);
      continue;
    }
    const Bandwidth rate = end_rate(named, name, text);
    if (has_own) {
      if (link.rate != rate) skip(name);
      continue;
    }
    link.rate = link.rate ? std::min(*link.rate, rate) : rate;
    guessed_.emplace(name, "rates of a link's ends, of which it runs at the slower");
  }
}

std::uint64_t LinkValues::left_out() const {
  std::uint64_t links = 0;
  for (const auto& [why, times] : left_out_) links += times;
  return links;
}

std::uint32_t LinkValues::set_all(ImportedLink& link, const std::vector<Named>& given) {
  const std::vector<Named> values = with_units(given);
  const std::uint32_t count = count_of(values);
  if (count == 0) return 0;
  inside_.clear();
  for (const bool understood : {true, false}) {
    if (!understood) set_end_rates(link, values);
    for (const auto& [name, text] : values) {
      if ((known_meaning(name).meaning != Meaning::kOther) != understood) continue;
      try {
        set(link, name, text);
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", shortened(name), error.what()));
      }
    }
  }
  for (const auto& [name, words] : inside_) set_inside(link, name, words);
  return count;
}

// What stands beside a cable's kind goes after what has a name of its own.
void LinkValues::set_inside(ImportedLink& link, std::string_view name, const CableWords& words) {
  if (words.metres && *words.metres <= kMostMetres) {
    const auto length = static_cast<float>(*words.metres);
    if (!taken(link.length_m > 0, link.length_m, length, fmt::format("lengths in '{}'", name)))
      link.length_m = length;
  }
  if (words.rate &&
      !taken(link.rate.has_value(), link.rate, words.rate, fmt::format("rates in '{}'", name))) {
    link.rate = words.rate;
    guessed_.emplace(name, "rates by their units");
  }
}

// A cable's kind, with its length and rate if they stand there too.
void LinkValues::set_cable(ImportedLink& link, std::string_view name, std::string_view text) {
  const CableWords words = cable_words(text);
  if (!words.kind && !words.metres) {
    if (!set_by_unit(link, name, text)) skip(name);
    return;
  }
  if (!words.kind && !metres_of(text)) skip(fmt::format("kinds in '{}'", name));
  if (words.kind && !taken(link.cable != CableKind::kUnknown, link.cable, *words.kind, name))
    link.cable = *words.kind;
  inside_.emplace_back(name, words);
}

void LinkValues::set(ImportedLink& link, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  const NamedMeaning& named = known_meaning(name);
  if (named.meaning == Meaning::kEndRate) return;  // set_end_rates() has
  if (ignores(name)) return skip(name);
  if (named.meaning == Meaning::kStatus || named.meaning == Meaning::kCount) return;  // count_of() has
  if (named.meaning == Meaning::kCable) return set_cable(link, name, text);
  if (named.meaning != Meaning::kOther && named.meaning != Meaning::kWeight) {
    return set_by_name(link, named, name, text);
  }
  if (set_by_unit(link, name, text)) return;
  if (named.meaning == Meaning::kWeight) {
    throw InputError(
        fmt::format("'{}' may be a rate, a time or nothing for this network; give it a unit, or leave it "
                    "unread with ignore=[{}]",
                    text, name));
  }
  skip(name);
}

void LinkValues::note(ImportedGraph& graph) const {
  for (const auto& [name, what] : guessed_) {
    graph.assumed.push_back(
        fmt::format("values of '{}' are taken for {} (graph_file:ignore=[{}] leaves them out)",
                    shortened(name), what, name));
  }
  std::string out;
  for (const auto& [why, times] : left_out_) {
    out += fmt::format("{}{} whose '{}' is '{}'", out.empty() ? "" : ", ", times, shortened(why.first),
                       shortened(why.second));
  }
  if (!out.empty()) {
    graph.assumed.push_back(
        fmt::format("links that carry no messages are left out: {} (graph_file:ignore=[{}] builds "
                    "them)",
                    out, left_out_.begin()->first.first));
  }
  if (unread_.empty()) return;
  constexpr std::size_t kMostNames = 12;
  std::string text;
  std::size_t names = 0;
  for (const auto& [name, times] : unread_) {
    if (++names > kMostNames) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", shortened(name), times);
  }
  if (names > kMostNames) text += fmt::format(" and {} more names", names - kMostNames);
  const auto tells_lanes = [](const auto& unread) {
    const std::vector<std::string> words = words_of(unread.first);
    return std::ranges::any_of(words,
                               [](const std::string& word) { return word == "lane" || word == "lanes"; });
  };
  if (std::ranges::any_of(unread_, tells_lanes)) text += "; rates are taken as those of all lanes of a cable";
  graph.unread.push_back(fmt::format("values of the file that are not read, by name: {}", text));
}

}  // namespace weft::topologies
