// What controls that set rates have in common.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::congestion {

// Of senders whose rate alone limits them. Networks multiply it by small numbers.
inline constexpr std::uint64_t kNoWindow = std::uint64_t{1} << 40;

// Values of parameters that may be "auto", which stands as 0 here: a value of 0 is refused.
inline Time time_or_zero(const Parameters& parameters, std::string_view name) {
  if (parameters.automatic(name)) return {};
  const Time value = parameters.time(name);
  if (value == Time()) parameters.fail(name, "it must be above 0, or auto");
  return value;
}
inline Bandwidth rate_or_zero(const Parameters& parameters, std::string_view name) {
  if (parameters.automatic(name)) return {};
  const Bandwidth value = parameters.bandwidth(name);
  if (value.bps() == 0) parameters.fail(name, "it must be above 0, or auto");
  return value;
}

}  // namespace weft::congestion
