// Changes one thing of a run, to see what it would have gained.
#pragma once

#include "sim/scenario/scenario.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

// Factors, 1: as it is.
struct WhatIf {
  double rates = 1;      // of links, copies within a host, and LogGOPS's NICs
  double latencies = 1;  // of links, switches, NICs and copies within a host, and LogGOPS's L
  double overheads = 1;  // of the cpu's times for messages, o and O; 0: of what NCCL's channels cost, too
  double compute = 1;    // of the times of calcs, and of combining received data

  bool operator==(const WhatIf&) const = default;
  bool changes_network() const { return rates != 1 || latencies != 1; }
};

// Its network is simulated by one thread, which decides nothing.
void put_in_one_partition(Scenario& resolved);

// What of it a scenario tells. Its network is simulated in one partition, which is needed where
// latencies are 0 and decides nothing.
Scenario changed(const Scenario& resolved, const WhatIf& what_if);

}  // namespace weft::sim
