// Networks of groups of routers in which every group is linked to every other.
#pragma once

#include <vector>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// The Dragonfly: g groups of a routers, complete within; each router has p hosts and h ports to other
// groups. Balanced with a = 2p, h = p, g = a·h + 1: 4p³ + 2p routers, 4p⁴ + 2p² hosts. Diameter 3. Routers
// are numbered by group; router i of a group has its global ports i·h … (i + 1)·h - 1. Where they lead, also
// with fewer groups: global_links.h. Slingshot-like: p=16,a=32,h=17, at most 545 groups.
Family dragonfly();

// Megafly or Dragonfly+: p·h/g + 1 groups of p leaves and p spines, each leaf linked to each spine of its
// group; `hosts` hosts on a leaf, h links of a spine to other groups (both p unless given), g between every
// two groups (the g links stand side by side, so they may join the same two spines). Diameter 3 from leaf to
// leaf. Leaves are numbered first, by group, then spines. Leonardo's shape: p=18,h=22,g=18,hosts=10.
Family megafly();

// Cray Cascade (XC series, Aries): groups of 6 chassis with 16 routers each, 4 hosts on a router. A router
// has one link to each other of its chassis (backplane), three to each of its slot in the other chassis
// (copper), and 10 ports to other groups (optical). Up to 241 groups, then with 4 links between every two.
// Diameter 5. Three chassis are a cabinet, which is the rack.
Family cascade();

// All of the above, in the order of `weft list topology`.
std::vector<Family> group_families();

}  // namespace weft::topologies
