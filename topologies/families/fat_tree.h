#pragma once

#include "topologies/graph/topology.h"

namespace weft::topologies {

// The three-level fat tree of k-port switches: k pods of k/2 edge and k/2 aggregation switches, and (k/2)²
// cores. Aggregation switch i of every pod is linked to cores i·k/2 … (i+1)·k/2 - 1. An edge switch has
// oversubscription·k/2 hosts and k/2 links up, so oversubscription 2 gives k hosts on each edge switch of
// radix 3k/2, k³/2 in all. Hosts are numbered by pod, then edge switch.
Family fat_tree();

}  // namespace weft::topologies
