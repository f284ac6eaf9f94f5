#include "topologies/import/meanings.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

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
constexpr std::string_view kLosses[] = {
    "loss",        "loss rate",        "loss ratio",        "loss probability",
    "packet loss", "packet loss rate", "packet loss ratio", "packet loss probability",
    "plr",         "drop rate",        "drop probability"};
constexpr std::string_view kCables[] = {"cable", "media", "medium", "type", "media type", "transceiver"};
constexpr std::string_view kWeights[] = {"weight"};
constexpr std::string_view kStatuses[] = {"status",       "state",      "oper status",
                                          "admin status", "oper state", "connection status"};
// A bare count may be of anything: lanes, fibres, faults.
constexpr std::string_view kCounts[] = {
    "qty",       "quantity",        "multiplicity", "link count",      "cable count",
    "num links", "number of links", "num cables",   "number of cables"};
// The words beside a rate that is one end's: `A Speed`, `Remote port speed`. `from` and `to` may be
// directions.
constexpr std::string_view kSides[] = {"a",    "b",      "z",           "local",  "remote", "neighbor",
                                       "peer", "source", "src",         "target", "dst",    "neighbour",
                                       "dest", "left",   "destination", "right",  "near",   "far"};
constexpr std::string_view kOfSides[] = {"side", "end",    "endpoint", "port",       "interface",
                                         "intf", "device", "nic",      "termination"};

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
    {"g", "Gbps", Meaning::kRate},       {"gigabit", "Gbps", Meaning::kRate},
    {"ps", "ps", Meaning::kLatency},     {"ns", "ns", Meaning::kLatency},
    {"us", "us", Meaning::kLatency},     {"usec", "us", Meaning::kLatency},
    {"ms", "ms", Meaning::kLatency},     {"msec", "ms", Meaning::kLatency},
    {"nsec", "ns", Meaning::kLatency},   {"sec", "s", Meaning::kLatency},
    {"s", "s", Meaning::kLatency},       {"percent", "%", Meaning::kLoss},
    {"pct", "%", Meaning::kLoss},        {"ppm", "ppm", Meaning::kLoss},
    {"m", "m", Meaning::kLength},        {"meter", "m", Meaning::kLength},
    {"meters", "m", Meaning::kLength},   {"metre", "m", Meaning::kLength},
    {"metres", "m", Meaning::kLength},   {"km", "km", Meaning::kLength},
    {"cm", "cm", Meaning::kLength},      {"mm", "mm", Meaning::kLength},
    {"ft", "ft", Meaning::kLength},      {"feet", "ft", Meaning::kLength},
    {"in", "in", Meaning::kLength},      {"inch", "in", Meaning::kLength},
    {"inches", "in", Meaning::kLength},  {"mi", "mi", Meaning::kLength},
    {"miles", "mi", Meaning::kLength},
};

bool has(Words words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::vector<std::string> words_of(std::string_view of) {
  const std::string name = with_plain_units(of);
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto at = static_cast<unsigned char>(name[i]);
    const bool rises =
        i > 0 && std::isupper(at) != 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (rises) text += ' ';
    if (at == '%') text += " percent ";
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
        {kWeights, Meaning::kWeight}, {kStatuses, Meaning::kStatus},    {kCounts, Meaning::kCount}};
    for (const auto& [list, meaning] : kAll) {
      if (has(list, text)) return meaning;
    }
    return Meaning::kOther;
  };
  if (const std::string unit = words.empty() ? "" : words.back(); unit == "unit" || unit == "units") {
    words.pop_back();
    found.unit_of = joined();
    return found;
  }
  found.words = joined();
  found.meaning = look(found.words);
  if (found.meaning != Meaning::kOther) return found;
  const bool percent_first = words.size() > 1 && (words[0] == "percent" || words[0] == "pct");
  if (percent_first) std::rotate(words.begin(), words.begin() + 1, words.end());
  const auto unit = words.empty() ? std::end(kUnits)
                                  : std::find_if(std::begin(kUnits), std::end(kUnits),
                                                 [&](const Unit& one) { return one.word == words.back(); });
  if (unit != std::end(kUnits) && words.size() > 1) {
    found.unit = unit->unit;
    words.pop_back();
  } else if (unit != std::end(kUnits) && unit->of == Meaning::kRate && words.back().ends_with("ps")) {
    found.meaning = Meaning::kRate;
    found.unit = unit->unit;
    return found;  // a column that is called Gbps
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
  if (found.meaning == Meaning::kOther) {
    const auto sides = std::erase_if(words, [](const std::string& word) { return has(kSides, word); });
    std::erase_if(words, [](const std::string& word) { return has(kOfSides, word); });
    if (sides == 1 && look(joined()) == Meaning::kRate) found.meaning = Meaning::kEndRate;
  }
  // These words are units beside their own quantity only: `speed in` is no length.
  const bool also_word = unit != std::end(kUnits) && (unit->word == "in" || unit->word == "g");
  const bool of_rate =
      found.meaning == Meaning::kEndRate && unit != std::end(kUnits) && unit->of == Meaning::kRate;
  if (also_word && found.meaning != unit->of && !of_rate) found.meaning = Meaning::kOther, found.unit.clear();
  if (rest == "speedraw" || rest == "if speed")
    std::tie(found.meaning, found.unit) = std::pair(Meaning::kRate, "bps");
  if (rest == "if high speed")
    std::tie(found.meaning, found.unit) = std::pair(Meaning::kRate, "Mbps");  // RFC 2863, as ifSpeed
  return found;
}

}  // namespace weft::topologies
