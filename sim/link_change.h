// What happens to a link while a run goes on, as faults plan it and networks carry it out.
#pragma once

#include <cstdint>

#include "sim/units/quantity.h"

namespace weft::sim {

// From `at` on, until the link's next change, both directions of a cable are like this.
struct LinkChange {
  Time at;
  std::uint32_t link = 0;     // edge of the topology: channels 2 × link and 2 × link + 1
  double rate_share = 1;      // of the rate it was built with, above 0; 0: down, everything on it is lost
  double bit_error_rate = 0;  // probability that a bit is wrong, which loses its packet; below 1
};

}  // namespace weft::sim
