// What controls that set rates have in common.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::congestion {

// Senders whose rate alone limits them have this window. Networks multiply it by small numbers, which must
// not overflow.
inline constexpr std::uint64_t kNoWindow = std::uint64_t{1} << 40;

// Values of parameters that may be "auto", which stands as 0 here: their limits refuse a value of 0.
inline Time time_or_zero(const Parameters& parameters, std::string_view name) {
  return parameters.automatic(name) ? Time() : parameters.time(name);
}
inline Bandwidth rate_or_zero(const Parameters& parameters, std::string_view name) {
  return parameters.automatic(name) ? Bandwidth() : parameters.bandwidth(name);
}

}  // namespace weft::congestion
