#include "topologies/import/vendor_units.h"

#include <fmt/core.h>

#include <cctype>
#include <iterator>
#include <optional>
#include <utility>

#include "topologies/import/lines.h"

namespace weft::topologies {
namespace {

using UnitSpelling = std::pair<std::string_view, std::string_view>;

// In small letters, in which b can only be bits. Of bytes, which have a capital B, further below.
constexpr UnitSpelling kRateUnits[] = {
    {"ge", "Gbps"},      {"gbe", "Gbps"},    {"gige", "Gbps"},     {"gb", "Gbps"},        {"gbit", "Gbps"},
    {"gbits", "Gbps"},   {"gbps", "Gbps"},   {"gb/s", "Gbps"},     {"gbit/s", "Gbps"},    {"gbits/s", "Gbps"},
    {"gigabit", "Gbps"}, {"gbitps", "Gbps"}, {"gigabits", "Gbps"}, {"gigabit/s", "Gbps"}, {"mb", "Mbps"},
    {"mbit", "Mbps"},    {"mbits", "Mbps"},  {"mbps", "Mbps"},     {"mb/s", "Mbps"},      {"mbit/s", "Mbps"},
    {"mbits/s", "Mbps"}, {"tbps", "Tbps"},   {"tbit", "Tbps"},     {"tbit/s", "Tbps"},    {"tb/s", "Tbps"},
    {"tbits/s", "Tbps"}, {"bit/s", "bps"},   {"bits/s", "bps"},    {"kbit", "kbps"},      {"kbits/s", "kbps"},
};
constexpr UnitSpelling kByteUnits[] = {{"kBps", "kB/s"}, {"KBps", "kB/s"}, {"KB/s", "kB/s"},
                                       {"MBps", "MB/s"}, {"GBps", "GB/s"}, {"TBps", "TB/s"}};
constexpr UnitSpelling kTimeUnits[] = {
    {"\xC2\xB5s", "us"}, {"\xCE\xBCs", "us"}, {"usec", "us"}, {"nsec", "ns"},
    {"msec", "ms"},      {"sec", "s"},        {"psec", "ps"},
};

// Mb/s of data on each of a cable's lanes, of which there are four if not said (IBTA, InfiniBand roadmap; QDR
// sends 8 of 10 bits, FDR and those after it 64 of 66).
struct NamedRate {
  std::string_view name;
  double lane_mbps;
  int lanes;
};
constexpr NamedRate kNamedRates[] = {
    {"sdr", 2000, 4},      {"ddr", 4000, 4},   {"qdr", 8000, 4},     {"fdr10", 10000, 4},
    {"fdr", 13636.364, 4}, {"edr", 25000, 4},  {"hdr100", 50000, 2}, {"hdr", 50000, 4},
    {"ndr200", 100000, 2}, {"ndr", 100000, 4}, {"xdr", 200000, 4},
};

struct Parts {
  std::string_view number, unit;
};

Parts parts_of(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789.+-");
  if (end == text.npos) return {text, ""};
  const std::size_t unit = text.find_first_not_of(' ', end);
  return {text.substr(0, end), unit == text.npos ? "" : text.substr(unit)};
}

template <std::size_t kSize>
std::optional<std::string> translated(std::string_view text, const UnitSpelling (&units)[kSize], bool small) {
  const Parts parts = parts_of(text);
  const std::string unit = small ? lower_case(parts.unit) : std::string(parts.unit);
  for (const auto& [from, to] : units) {
    if (unit == from && !parts.number.empty()) return fmt::format("{}{}", parts.number, to);
  }
  return std::nullopt;
}

// "HDR", "4x HDR" or "HDR 4x".
std::optional<double> named_mbps(std::string_view text) {
  std::string word = lower_case(text);
  std::optional<std::uint64_t> lanes;
  for (const std::string_view each : {"1", "2", "4", "8", "12"}) {
    const std::string times = fmt::format("{}x", each);
    if (word.size() <= times.size()) continue;
    const bool before = word.starts_with(times);
    if (!before && !word.ends_with(" " + times)) continue;
    lanes = whole_number(each);
    word = before ? word.substr(times.size()) : word.substr(0, word.size() - times.size());
    break;
  }
  while (word.starts_with(' ')) word.erase(0, 1);
  while (word.ends_with(' ')) word.pop_back();
  for (const NamedRate& rate : kNamedRates) {
    if (rate.name == word) return rate.lane_mbps * static_cast<double>(lanes.value_or(rate.lanes));
  }
  return std::nullopt;
}

bool is_multiple(char c) { return c == 'k' || c == 'K' || c == 'M' || c == 'G' || c == 'T'; }

}  // namespace

std::string standard_rate(std::string_view text) {
  if (const auto bytes = translated(text, kByteUnits, false)) return *bytes;
  const Parts parts = parts_of(text);
  // GB/s is no Gb/s, whatever else is forgiven.
  const bool bits = parts.unit.find('B') == parts.unit.npos || parts.unit.ends_with("BE") ||
                    parts.unit.ends_with("bE") || parts.unit.ends_with("BPS");
  if (bits && !parts.unit.ends_with("BPS")) {
    if (const auto rate = translated(text, kRateUnits, true)) return *rate;
  }
  if (const auto mbps = named_mbps(text)) return fmt::format("{}Mbps", *mbps);
  return std::string(text);
}

std::string standard_time(std::string_view text) {
  return translated(text, kTimeUnits, false).value_or(std::string(text));
}

bool is_rate_name(std::string_view text) { return named_mbps(text).has_value(); }

std::string with_plain_units(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string_view rest = name.substr(i);
    if (rest.starts_with("\xC2\xB5") || rest.starts_with("\xCE\xBC")) {
      text += " u";
      ++i;
    } else if (is_multiple(name[i]) &&
               (rest.substr(1).starts_with("B/s") || rest.substr(1).starts_with("Bps"))) {
      text += fmt::format(" {}byteps ", static_cast<char>(std::tolower(static_cast<unsigned char>(name[i]))));
      i += 3;
    } else {
      text += name[i];
    }
  }
  for (const std::string_view form : {"bits/s", "bit/s"}) {
    for (std::size_t at = text.find(form); at != text.npos; at = text.find(form))
      text.replace(at, form.size(), "bps");
  }
  return text;
}

}  // namespace weft::topologies
