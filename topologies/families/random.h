// Random networks: about as few hops as any network of the same equipment, no structure.
#pragma once

#include <vector>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// Jellyfish: a random graph of n routers with r links to other routers each, connected, without parallel
// links; from pairing all ports at random, then swapping the few pairs that are not allowed. r/2 hosts on
// each by default, but at least 1. Equal seeds make equal networks.
Family jellyfish();

// Xpander: the complete graph of d + 1 routers, lifted once for each factor in `lifts`: a lift by f makes f
// copies of each router and, of each link, a random matching between the copies of its ends.
// (d + 1)·(product of the factors) routers of degree d, without parallel links, connected. d/2 hosts on each
// by default. The copies of one router of the complete graph, a metanode, are numbered together and are a
// group. Equal seeds make equal networks.
Family xpander();

// All of the above, in the order of `weft list topology`.
std::vector<Family> random_families();

}  // namespace weft::topologies
