// What happens to a link while a run goes on, as faults plan it and networks carry it out.
#pragma once

#include <cstdint>

#include "sim/units/quantity.h"

namespace weft::sim {

// Directions of a cable: bit d is channel 2 × link + d.
inline constexpr std::uint8_t kBothDirections = 3;

// From `at` on, until their next change, these directions of a cable are like this.
struct LinkChange {
  Time at;
  std::uint32_t link = 0;     // edge of the topology: channels 2 × link and 2 × link + 1
  double rate_share = 1;      // of the rate it was built with, above 0; 0: down, everything on it is lost
  double bit_error_rate = 0;  // probability that a bit is wrong, which loses its packet; below 1
  double queue_share = 1;     // of the limits and thresholds in bytes of the queue in front of it, above 0
  std::uint8_t directions = kBothDirections;  // never 0; a cable is down in both or in none
  bool known = false;                         // routes go by it at once: it was so before the run began
};

}  // namespace weft::sim
