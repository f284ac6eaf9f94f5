#include "topologies/import/named_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>

#include "sim/units/input_error.h"
#include "topologies/export/formats.h"
#include "topologies/import/attributes.h"
#include "topologies/import/lines.h"
#include "topologies/import/vendor_units.h"

namespace weft::topologies {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::string_view kRates[] = {"rate",     "speed",    "capacity",    "bandwidth",   "bw",
                                       "datarate", "linerate", "speed raw",   "cap",         "throughput",
                                       "rate ab",  "speed ab", "capacity ab", "bandwidth ab"};
constexpr std::string_view kBackRates[] = {"back rate",     "rate back",   "reverse rate", "rate reverse",
                                           "reverse speed", "speed back",  "back speed",   "rate ba",
                                           "speed ba",      "capacity ba", "bandwidth ba"};
constexpr std::string_view kLatencies[] = {
    "latency", "delay", "lat", "propagation", "propagation delay", "propagation latency", "prop delay"};
constexpr std::string_view kLengths[] = {"length", "distance", "dist", "len"};
constexpr std::string_view kLosses[] = {"loss", "loss rate", "plr", "packet loss"};
constexpr std::string_view kCables[] = {"cable", "media", "medium", "type", "media type", "transceiver"};
constexpr std::string_view kWeights[] = {"weight"};
// A value whose name has one of these is of another thing than the cable, whatever its unit.
constexpr std::string_view kOthers[] = {"jitter", "rtt",  "used",    "usage",   "utilization", "utilisation",
                                        "load",   "free", "timeout", "traffic", "interval"};
constexpr std::string_view kFroms[] = {
    "from",         "source",   "src",      "node1",       "node a",    "a end",         "local",
    "local device", "device a", "a device", "from device", "from node", "source device", "source node",
    "src device",   "src node", "device1",  "device 1",    "node 1",    "local node",    "local host"};
constexpr std::string_view kTos[] = {"to",
                                     "target",
                                     "dst",
                                     "node2",
                                     "node b",
                                     "b end",
                                     "remote",
                                     "remote device",
                                     "device b",
                                     "b device",
                                     "to device",
                                     "to node",
                                     "target device",
                                     "target node",
                                     "dst device",
                                     "dst node",
                                     "device2",
                                     "device 2",
                                     "node 2",
                                     "remote node",
                                     "remote host",
                                     "dest",
                                     "destination",
                                     "destination device",
                                     "destination node",
                                     "z end",
                                     "z device",
                                     "device z"};

struct Unit {
  std::string_view word, unit;
  Meaning of;
};
constexpr Unit kUnits[] = {
    {"bps", "bps", Meaning::kRate},      {"kbps", "kbps", Meaning::kRate},
    {"mbps", "Mbps", Meaning::kRate},    {"gbps", "Gbps", Meaning::kRate},
    {"tbps", "Tbps", Meaning::kRate},    {"kbit", "kbps", Meaning::kRate},
    {"mbit", "Mbps", Meaning::kRate},    {"gbit", "Gbps", Meaning::kRate},
    {"tbit", "Tbps", Meaning::kRate},    {"kbyteps", "kB/s", Meaning::kRate},
    {"mbyteps", "MB/s", Meaning::kRate}, {"gbyteps", "GB/s", Meaning::kRate},
    {"tbyteps", "TB/s", Meaning::kRate}, {"gbits", "Gbps", Meaning::kRate},
    {"mbits", "Mbps", Meaning::kRate},   {"raw", "bps", Meaning::kRate},
    {"ps", "ps", Meaning::kLatency},     {"ns", "ns", Meaning::kLatency},
    {"us", "us", Meaning::kLatency},     {"usec", "us", Meaning::kLatency},
    {"ms", "ms", Meaning::kLatency},     {"msec", "ms", Meaning::kLatency},
    {"nsec", "ns", Meaning::kLatency},   {"sec", "s", Meaning::kLatency},
    {"s", "s", Meaning::kLatency},       {"m", "m", Meaning::kLength},
    {"km", "km", Meaning::kLength},      {"meters", "m", Meaning::kLength},
    {"metres", "m", Meaning::kLength},   {"cm", "cm", Meaning::kLength},
    {"mm", "mm", Meaning::kLength},      {"ft", "ft", Meaning::kLength},
};

bool has(Words words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// "LinkSpeedRaw" and "link_speed-raw" as {"link", "speed", "raw"}; "Gb/s" as {"gbps"}, "GB/s" as {"gbyteps"}.
std::vector<std::string> words_of(std::string_view of) {
  const std::string name = with_plain_units(of);
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto at = static_cast<unsigned char>(name[i]);
    const bool rises =
        i > 0 && std::isupper(at) != 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (rises) text += ' ';
    text += std::isalnum(at) != 0 || at == '/' ? static_cast<char>(std::tolower(at)) : ' ';
  }
  for (std::size_t at = text.find("b/s"); at != text.npos; at = text.find("b/s")) text.replace(at, 3, "bps");
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(" /"); at != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(" /", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(" /", end);
  }
  return words;
}

bool is_bare(std::string_view text) { return finite_number(text).has_value(); }

// A number with a unit of lengths, in metres.
std::optional<double> metres(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kLengthUnits = {
      {{"km", 1000}, {"cm", 0.01}, {"mm", 0.001}, {"ft", 0.3048}, {"m", 1}}};
  for (const auto& [unit, factor] : kLengthUnits) {
    if (!text.ends_with(unit)) continue;
    std::string_view number = text.substr(0, text.size() - unit.size());
    while (number.ends_with(' ')) number.remove_suffix(1);
    const std::optional<double> value = finite_number(number);
    if (value) return *value * factor;
  }
  return finite_number(text);
}

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

// The kind of cable that vendors' words for media name.
std::optional<CableKind> cable_of(std::string_view text) {
  const std::string word = lower_case(text);
  const auto any = [&](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return word.find(part) != word.npos; });
  };
  if (any({"dac", "copper", "twinax", "acc", "aec"})) return CableKind::kCopper;
  if (any({"aoc", "optic", "fiber", "fibre", "smf", "mmf", "om3", "om4", "om5", "os2"}))
    return CableKind::kOptical;
  if (any({"backplane"})) return CableKind::kBackplane;
  return if_readable([&] { return parse_cable(text); });
}

}  // namespace

NamedMeaning meaning_of(std::string_view name) {
  std::vector<std::string> words = words_of(name);
  NamedMeaning found;
  const auto joined = [&] {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
  };
  const auto look = [&](const std::string& text) {
    constexpr std::pair<Words, Meaning> kAll[] = {
        {kRates, Meaning::kRate},     {kBackRates, Meaning::kBackRate}, {kLatencies, Meaning::kLatency},
        {kLengths, Meaning::kLength}, {kLosses, Meaning::kLoss},        {kCables, Meaning::kCable},
        {kWeights, Meaning::kWeight}, {kFroms, Meaning::kFrom},         {kTos, Meaning::kTo}};
    for (const auto& [list, meaning] : kAll) {
      if (has(list, text)) return meaning;
    }
    return Meaning::kOther;
  };
  found.meaning = look(joined());
  if (found.meaning != Meaning::kOther) return found;
  const auto unit = words.empty() ? std::end(kUnits)
                                  : std::find_if(std::begin(kUnits), std::end(kUnits),
                                                 [&](const Unit& one) { return one.word == words.back(); });
  if (unit != std::end(kUnits) && words.size() > 1) {
    found.unit = unit->unit;
    words.pop_back();
  } else if (unit != std::end(kUnits) && unit->of == Meaning::kRate && words.back().ends_with("ps")) {
    return {Meaning::kRate, std::string(unit->unit)};  // a column that is called Gbps
  }
  for (const std::string_view of : {"link", "edge", "cable", "port", "the", "fiber", "fibre", "one", "way"}) {
    if (words.size() > 1 && words.front() == of) words.erase(words.begin());
  }
  std::string rest = joined();
  for (const std::string_view of : {"link", "edge", "cable"}) {
    if (rest.size() > of.size() && rest.starts_with(of)) rest = rest.substr(of.size());
  }
  while (rest.starts_with(' ')) rest.erase(0, 1);
  found.meaning = look(rest);
  if (rest == "speedraw" || rest == "if speed") found = {Meaning::kRate, "bps"};
  if (rest == "if high speed") found = {Meaning::kRate, "Mbps"};  // RFC 2863, as ifSpeed
  if (found.meaning == Meaning::kFrom || found.meaning == Meaning::kTo) found.meaning = Meaning::kOther;
  return found;
}

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
      const std::optional<double> length = metres(value);
      if (!length || *length < 0 || *length > 1e9) {
        throw InputError(fmt::format("'{}' is not a length from 0 to 1e9 m; write it like 5m", text));
      }
      if (taken(link.length_m > 0, link.length_m, static_cast<float>(*length), name)) return;
      if (bare) guessed_.emplace(name, "lengths in metres, as they have no unit");
      link.length_m = static_cast<float>(*length);
      return;
    }
    case Meaning::kLoss: {
      const double loss = loss_attribute(text);
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
  const bool other =
      std::any_of(words.begin(), words.end(), [](const std::string& word) { return has(kOthers, word); });
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

void LinkValues::set_all(ImportedLink& link, const std::vector<Named>& values) {
  for (const bool understood : {true, false}) {
    for (const auto& [name, text] : values) {
      if ((known_meaning(name).meaning != Meaning::kOther) != understood) continue;
      try {
        set(link, name, text);
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", shortened(name), error.what()));
      }
    }
  }
}

void LinkValues::set(ImportedLink& link, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  const NamedMeaning& named = known_meaning(name);
  if (ignores(name)) return skip(name);
  if (named.meaning == Meaning::kCable) {
    const auto cable = cable_of(text);
    if (cable && !taken(link.cable != CableKind::kUnknown, link.cable, *cable, name)) link.cable = *cable;
    if (cable || set_by_unit(link, name, text)) return;
    return skip(name);
  }
  if (named.meaning != Meaning::kOther && named.meaning != Meaning::kWeight &&
      named.meaning != Meaning::kFrom && named.meaning != Meaning::kTo) {
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
  if (unread_.empty()) return;
  constexpr std::size_t kMostNames = 12;
  std::string text;
  std::size_t names = 0;
  for (const auto& [name, times] : unread_) {
    if (++names > kMostNames) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", shortened(name), times);
  }
  if (names > kMostNames) text += fmt::format(" and {} more names", names - kMostNames);
  graph.unread.push_back(fmt::format("values of the file that are not read, by name: {}", text));
}

}  // namespace weft::topologies
