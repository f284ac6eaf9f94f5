// Folded Clos networks: switches in tiers, hosts at the bottom.
#pragma once

#include <vector>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// All hosts on one switch: nothing but the hosts' own links can be contended.
Family single_switch();

// Two-level folded Clos: every leaf is linked to every spine. With R the links from a leaf up and H its
// hosts, the oversubscription is H·host_link : R·link. `uplinks` sets R where it is no multiple of the number
// of spines: leaf l's links then go on with the spine after that of leaf l-1's last.
Family leaf_spine();

// The two-level fat tree of k-port switches: k leaves with k/2 hosts each and one link to each of k/2 spines.
Family fat_tree2();

// The three-level fat tree of k-port switches: k pods of k/2 edge and k/2 aggregation switches, and (k/2)²
// cores. Aggregation switch i of every pod is linked to cores i·k/2 … (i+1)·k/2 - 1. An edge switch has
// oversubscription·k/2 hosts and k/2 links up, so oversubscription 2 gives k hosts on each edge switch of
// radix 3k/2, k³/2 in all. Hosts are numbered by pod, then edge switch.
Family fat_tree();

// All of the above, in the order of `weft list topology`.
std::vector<Family> tree_families();

}  // namespace weft::topologies
