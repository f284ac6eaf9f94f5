// How much crosses between two halves of the endpoints.
#pragma once

#include <cstdint>
#include <vector>

#include "topologies/analysis/router_graph.h"

namespace weft::topologies {

// The narrowest cut that leaves half of the endpoints on either side lies between two bounds. Endpoints of
// one terminal stay together, so halves may differ by as many as the largest terminal has.
struct Bisection {
  std::uint64_t links = 0;         // an upper bound: across the narrowest cut found
  double rate = 0;                 // bit/s of these links from side 0 to side 1: the narrowest found
  double back_rate = 0;            // likewise, from side 1 to side 0
  double least_links = 0;          // a lower bound (weighted_connectivity), 0 or more
  double least_rate = 0;           // bit/s, the same, in either direction
  std::uint32_t side[2] = {0, 0};  // endpoints on either side of the cut found
  std::vector<bool> side_of;       // of each endpoint the side; none for one terminal
  // bit/s that the endpoints of the side that can send less can send; 0: there is no cut. In machines of
  // several accelerators, what they can send to other machines (RouterGraph::leaving).
  double full = 0;
  bool between_domains = false;  // `full` is that
  double half = 0;               // bit/s that half of all endpoints can send, likewise
  std::uint32_t switches = 0;    // that all endpoints are linked to alike, where they are; else 0

  // All endpoints are linked to the same switch, or the same switches: nothing can be cut.
  bool undivided() const { return full == 0; }
  // 1 for full bisection, whatever the sides. REQUIRES: !undivided().
  double share_of_full() const { return rate / full; }
  // bit/s between halves: where sides are unequal, those of equal ones with the same share. 0: undivided.
  double even_rate() const { return undivided() ? 0 : share_of_full() * half; }
};

// The narrowest, by the share of what its sides can send, of `seeds` partitions by METIS and the split of the
// endpoints by their numbers, each improved by moving single vertices. Zeros for one terminal. Not to be
// called by two threads at a time (metis.h).
Bisection bisection(const RouterGraph& graph, std::uint32_t seeds, std::uint64_t seed);
// With as many seeds as the network's size leaves time for: what all commands tell.
Bisection bisection(const RouterGraph& graph, std::uint64_t seed = 1);

}  // namespace weft::topologies
