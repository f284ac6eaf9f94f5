// How many packets a path holds, for recoveries that count by it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "congestion/recovery.h"

namespace weft::congestion {

// Full packets in a bandwidth-delay product of the longest path, at least one.
inline std::uint32_t window_packets(const RecoverySetup& setup) {
  const Time rtt = std::max(setup.base_rtt, setup.longest_rtt);
  const double bytes = static_cast<double>(setup.line_rate.bps()) / 8 * rtt.seconds();
  return static_cast<std::uint32_t>(std::clamp(std::ceil(bytes / setup.mtu_bytes), 1.0, 1e9));
}

// A whole number from 1 on, or 0 for auto. Throws InputError for others.
inline std::uint32_t count_or_auto(const Parameters& parameters, std::string_view name) {
  return parameters.automatic(name) ? 0 : parameters.whole(name);
}

}  // namespace weft::congestion
