#include "goal/import/mpi/host_clocks.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

// 31 years: no clock or difference of two is longer.
constexpr std::uint64_t kLongestNs = 1'000'000'000'000'000'000;

template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}
bool take_space(std::string_view& text) {
  if (text.empty() || text[0] != ' ') return false;
  text.remove_prefix(1);
  return true;
}

ClockReading reading_of(const std::string& file, const std::string& name, const std::string& value) {
  ClockReading reading;
  std::string_view text = value;
  const bool whole = take_number(text, reading.offset_ns) && take_space(text) &&
                     take_number(text, reading.round_trip_ns) && take_space(text) &&
                     take_number(text, reading.at_ns) && text.empty();
  constexpr auto kLongest = static_cast<std::int64_t>(kLongestNs);
  if (!whole || reading.offset_ns > kLongest || reading.offset_ns < -kLongest ||
      std::max(reading.round_trip_ns, reading.at_ns) > kLongestNs) {
    throw InputError(
        {file}, fmt::format("fact {} is '{}'; expected an offset, a round trip and a clock in nanoseconds",
                            name, value.substr(0, 80)));
  }
  return reading;
}

}  // namespace

void HostClocks::add(const std::string& file, const std::string& host,
                     const std::map<std::string, std::string>& facts) {
  Host& known = hosts_[host];
  known.name = host;
  if (!known.readings.empty()) return;  // one process of a host measures for all
  for (const char* name : {"clock_begin", "clock_end"}) {
    const auto found = facts.find(name);
    if (found != facts.end()) known.readings.push_back(reading_of(file, name, found->second));
  }
}

double HostClocks::Host::drift() const {
  if (readings.size() < 2 || readings[1].at_ns <= readings[0].at_ns) return 0;
  return static_cast<double>(readings[1].offset_ns - readings[0].offset_ns) /
         static_cast<double>(readings[1].at_ns - readings[0].at_ns);
}

double HostClocks::Host::drift_uncertainty() const {
  if (readings.size() < 2 || readings[1].at_ns <= readings[0].at_ns) return 0;
  return static_cast<double>(readings[0].round_trip_ns + readings[1].round_trip_ns) / 2 /
         static_cast<double>(readings[1].at_ns - readings[0].at_ns);
}

bool HostClocks::comparable() const {
  return hosts_.size() <= 1 || std::all_of(hosts_.begin(), hosts_.end(),
                                           [](const auto& host) { return !host.second.readings.empty(); });
}

std::int64_t HostClocks::reference_ns(const std::string& host, std::uint64_t ns) const {
  const Host& known = hosts_.at(host);
  const auto time = static_cast<std::int64_t>(std::min(ns, kLongestNs));
  if (known.readings.empty()) return time;
  const ClockReading& first = known.readings[0];
  const std::uint64_t end_ns = std::max(known.readings.back().at_ns, first.at_ns);
  const std::uint64_t since_ns = std::clamp(ns, first.at_ns, end_ns) - first.at_ns;
  return time + first.offset_ns + std::llround(known.drift() * static_cast<double>(since_ns));
}

std::uint64_t HostClocks::apart_ns() const {
  std::int64_t least = 0, most = 0;
  for (const auto& [name, host] : hosts_) {
    for (const ClockReading& reading : host.readings) {
      least = std::min(least, reading.offset_ns);
      most = std::max(most, reading.offset_ns);
    }
  }
  return static_cast<std::uint64_t>(most - least);
}

std::uint64_t HostClocks::uncertainty_ns() const {
  std::uint64_t longest = 0;
  for (const auto& [name, host] : hosts_) {
    for (const ClockReading& reading : host.readings) longest = std::max(longest, reading.round_trip_ns);
  }
  return (longest + 1) / 2;
}

}  // namespace weft::goal
