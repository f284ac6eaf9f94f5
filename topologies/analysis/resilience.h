// What is left of a network when links or switches fail at random.
#pragma once

#include <cstdint>
#include <vector>

#include "topologies/analysis/router_graph.h"

namespace weft::topologies {

// Means over the trials; hops are over pairs of routers with endpoints that can still reach each other.
struct Damage {
  double removed = 0;    // share of all links, or of all switches
  double diameter = 0;   // hops
  double average = 0;    // hops
  double connected = 0;  // share of trials in which no pair was parted that could reach each other before
};

struct Resilience {
  // The share of links (or switches) whose removal first parts two routers with endpoints that could reach
  // each other: least and mean over the trials. 1: nothing parts them, as where there is only one router. A
  // router that is removed is parted from nobody; routers inside hosts are not removed.
  double links_least = 1, links_mean = 1;
  double switches_least = 1, switches_mean = 1;
  std::vector<Damage> links, switches;  // by the shares asked for
  std::uint32_t trials = 0;
  bool sampled = false;  // hops are from some of the routers only
};

struct ResilienceOptions {
  std::vector<double> shares = {0.05, 0.1, 0.2, 0.3};
  std::uint32_t trials = 5;
  std::uint64_t most_sources = 256;  // routers that hops are measured from
  std::uint64_t seed = 1;
};

// Every trial removes links one by one in an order drawn with the seed, and (independently) switches. The
// links of hosts don't fail.
Resilience resilience(const RouterGraph& graph, const ResilienceOptions& options = {});

}  // namespace weft::topologies
