// In-band telemetry: what switches write into packets.
#pragma once

#include <cstdint>

#include "sim/units/quantity.h"

namespace weft::congestion {

// What one switch port wrote into a packet as it left. Source: Y. Li et al., HPCC, SIGCOMM 2019, section 3.2.
struct HopTelemetry {
  Time at;                        // when the packet went on the wire
  std::uint64_t queue_bytes = 0;  // that waited behind it then: what arrived before that moment
  std::uint64_t sent_bytes = 0;   // all that the port has sent, this packet included
  Bandwidth rate;                 // of the port
  std::uint32_t port = 0;  // which one: its number among all the network's, that of the link in links.csv
};

}  // namespace weft::congestion
