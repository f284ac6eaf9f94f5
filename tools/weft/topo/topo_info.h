// What weft topo info prints.
#pragma once

#include <string>

#include "topologies/graph/topology.h"

namespace weft::cli {

// A few lines: endpoints, routers by tier with their ports, links by rate and latency.
std::string topology_text(const topologies::Topology& topology);

}  // namespace weft::cli
