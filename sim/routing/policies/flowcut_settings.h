// What a user may set of flowcut switching, as read from the parameters.
#pragma once

#include <cstdint>

#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::routing {

// What ends a flowcut early: its source is paused until none of its packets is under way.
enum class FlowcutDrain : std::uint8_t { kNone, kBytes, kQueue, kRtt, kRttGradient, kRate };

struct FlowcutSettings {
  bool random_choice = false;
  FlowcutDrain drain = FlowcutDrain::kRtt;
  float gain = 0;                // of the newest round trip in the mean
  float max_ratio = 0;           // of the mean to the least
  std::uint64_t from_bytes = 0;  // of a flowcut, before round trips count
  std::uint64_t max_bytes = 0;
  std::uint64_t max_queue = 0;  // packets
  float max_gradient = 0;       // of the newest round trip to the mean, or the other way round
  float rate_gain = 0, max_rate_ratio = 0;
  Time idle;  // after which packets have arrived or are lost; 0: OwnSwitch::packet_lifetime()
};

// Throws InputError.
FlowcutSettings flowcut_settings(const Parameters& parameters);

}  // namespace weft::routing
