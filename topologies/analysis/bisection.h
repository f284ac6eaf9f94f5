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
  double rate = 0;                 // bit/s of these links, one direction: from side 0 to side 1
  double back_rate = 0;            // likewise, from side 1 to side 0
  double least_links = 0;          // a lower bound (weighted_connectivity), 0 or more
  double least_rate = 0;           // bit/s, the same
  std::uint32_t side[2] = {0, 0};  // endpoints on either side of the cut found
  std::vector<bool> side_of;       // of each endpoint the side; none for one terminal
  // bit/s that half of the endpoints can send; rate / full: 1 for full bisection. In machines of several
  // accelerators, what they can send to other machines (RouterGraph::leaving).
  double full = 0;
  bool between_domains = false;  // `full` is that
};

// The best of `seeds` partitions by METIS and the split of the endpoints by their numbers, each improved by
// moving single vertices. Zeros for one terminal. Not to be called by two threads at a time (metis.h).
Bisection bisection(const RouterGraph& graph, std::uint32_t seeds, std::uint64_t seed);

}  // namespace weft::topologies
