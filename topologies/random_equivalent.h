// The control of every comparison: a random network of the same equipment.
#pragma once

#include <cstdint>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// `of` with the links between its routers drawn anew: the same nodes, hosts on the same routers, every router
// with as many links as before, of the same rates, latencies, cable kinds and planes. No parallel links
// unless `of` has some, and what was connected stays connected. Made by 10 draws of a pair of links to swap
// for each link (families/link_swaps.h); links of which every drawing tried would take the network apart stay
// as they are. Cables have no lengths yet. Equal seeds make equal networks. Named
// "random_equivalent:of=[…],seed=…" with the name of `of`. Sources: M. Besta et al., "EvalNet", IPDPS 2026;
// with hosts spread anew too, A. Singla et al., "Jellyfish", NSDI 2012.
Topology random_equivalent(const Topology& of, std::uint64_t seed);

// Makes random_equivalent() a family, whose parameter `of` is the other network's choice.
Family random_equivalent_family();

}  // namespace weft::topologies
