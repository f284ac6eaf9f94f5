// Times that are long beside kEndOfTime: how long those may be that networks add up, and sums that stop
// there.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <initializer_list>
#include <string>

#include "sim/units/input_error.h"
#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft {

// The longest that a link, a round trip, or what a host adds may take: 20 hours. Networks add up some dozens
// of these, which then stay far from kEndOfTime.
inline constexpr Time kLongestDelay = Time::us(72'000'000'000);

// Throws InputError that names what takes so long. `what`: "link h0 -> s0", say.
[[noreturn]] inline void fail_too_slow(const std::string& what, Time time) {
  throw InputError(fmt::format(
      "{} takes {:.0f} s; expected at most {:.0f} s (20 hours), as simulated time ends after {:.0f} days",
      what, time.seconds(), kLongestDelay.seconds(), kEndOfTime.seconds() / 86400));
}

// Throws InputError for a parameter that is longer.
inline void require_short(const Parameters& parameters, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (parameters.time(name) > kLongestDelay)
      parameters.fail(name, "it must be at most " + to_string(kLongestDelay) +
                                " (20 hours), as simulated time ends after 53 days");
  }
}

// So many times as long, or kEndOfTime if that is less. REQUIRES: neither is negative.
inline Time times_to_end(Time time, std::int64_t factor) {
  const auto product = static_cast<__int128>(time.ps()) * factor;
  return product < kEndOfTime.ps() ? time * factor : kEndOfTime;
}

// How long bytes take at a rate, or kEndOfTime if that is less. REQUIRES: the rate is above 0.
inline Time serialization_to_end(Bandwidth rate, std::uint64_t bytes) {
  const double estimate_ps = 8e12 * static_cast<double>(bytes) / static_cast<double>(rate.bps());
  return estimate_ps < static_cast<double>(kEndOfTime.ps()) ? rate.serialization(bytes) : kEndOfTime;
}

}  // namespace weft
