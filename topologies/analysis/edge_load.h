// Loads of links when all traffic takes shortest paths, split equally.
#pragma once

#include <cstdint>
#include <vector>

#include "topologies/analysis/demands.h"
#include "topologies/analysis/router_graph.h"

namespace weft::topologies {

// In units of an arc's own rate: 1 is a full link. At every router the traffic to a terminal is split equally
// over all links to routers (or that terminal) one hop nearer, as ideal ECMP does.
struct EdgeLoad {
  std::vector<double> arc;  // by arc of the FlowNetwork
  // Over the arcs between routers:
  double most = 0, mean = 0;
  double imbalance = 0;  // most / mean; 0 if there is no traffic
  // The share of the demands that fits when the fullest link is full: min(1, 1 / most).
  double saturation = 1;
  std::uint64_t destinations = 0;
  bool sampled = false;  // the traffic to some terminals stands for all: the mean is an estimate, but the
                         // load of a single arc, and so the most, can be far off
};

// The loads at scale 1 of the demands. Follows the traffic to all terminals, or to `most_destinations` of
// them, drawn with `seed`. Traffic between terminals that can't reach each other is left out.
EdgeLoad edge_load(const FlowNetwork& network, const Demands& demands,
                   std::uint64_t most_destinations = ~std::uint64_t{0}, std::uint64_t seed = 1);

}  // namespace weft::topologies
