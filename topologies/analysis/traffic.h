// How much traffic to expect at every node and on every link, before anything is simulated.
#pragma once

#include <span>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// In units of the mean host load. A byte that crosses three switches counts at each of them once.
struct ExpectedTraffic {
  std::vector<double> node;  // by vertex: hosts what they send and receive, switches what passes through
  std::vector<double> link;  // by link (channels 2e and 2e + 1 together)
};

// `host_load`: what each host sends and receives, by host number, in any unit; empty: 1 each, as is a list
// of nothing but zeros. Who talks to whom is taken to be in proportion to both loads (a gravity model), by
// all paths with the fewest hops. In large networks only some of the sources are followed, each for a share
// of the traffic: a figure is then good to a few percent. Throws InputError for loads that are negative, not
// finite, or not as many as there are hosts.
ExpectedTraffic expected_traffic(const Topology& topology, std::span<const double> host_load = {});

}  // namespace weft::topologies
