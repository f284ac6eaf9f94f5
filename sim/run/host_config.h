// What hosts cost, from a scenario.
#pragma once

#include <string_view>

#include "sim/replay/replay.h"
#include "sim/scenario/scenario.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

// `topology`: null where there is none. Throws InputError for tables of collectives that can't be read.
HostConfig host_config(const Scenario& resolved, const topologies::Topology* topology);

}  // namespace weft::sim
