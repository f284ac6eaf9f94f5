// What controls that go by telemetry have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "congestion/congestion.h"

namespace weft::congestion {

// The window that keeps the line busy for a round trip, in bytes: a packet at least. `round_trip`: 0: the
// connection's own, in which its ACK waits.
inline double line_window(const FlowInfo& flow, Time round_trip) {
  const double bytes = round_trip > Time()
                           ? static_cast<double>(flow.line_rate.bps()) / 8 * round_trip.seconds()
                           : static_cast<double>(flow.bdp_bytes);
  return std::max<double>(flow.mtu_bytes, bytes);
}

// The T of controls that go by telemetry. `round_trip`: 0: the connection's own, in which its ACK waits.
inline Time telemetry_round_trip(const FlowInfo& flow, Time round_trip) {
  return round_trip > Time() ? round_trip : flow.base_rtt + flow.answer_wait;
}

// What the last packet's telemetry said. Of one connection. Memory: 40 bytes for each switch of the path,
// taken at the first ACK.
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
