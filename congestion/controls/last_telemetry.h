// What the last packet's telemetry said, for controls that go by differences.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "congestion/telemetry.h"

namespace weft::congestion {

// Of one connection. Memory: 40 bytes for each switch of the path, taken at the first ACK.
class LastTelemetry {
 public:
  // Did the last packet pass the same ports? False for the first one, and where there are no switches.
  bool same_path(std::span<const HopTelemetry> hops) const {
    return !hops.empty() && std::equal(hops_.begin(), hops_.end(), hops.begin(), hops.end(),
                                       [](const auto& a, const auto& b) { return a.port == b.port; });
  }
  // Is there nothing yet?
  bool empty() const { return hops_.empty(); }
  const HopTelemetry& operator[](std::size_t hop) const { return hops_[hop]; }
  void keep(std::span<const HopTelemetry> hops) { hops_.assign(hops.begin(), hops.end()); }

 private:
  std::vector<HopTelemetry> hops_;
};

}  // namespace weft::congestion
