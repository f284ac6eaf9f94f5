// NCCL's channels in bundles, where a network has fluids.
#pragma once

#include <string>
#include <vector>

#include "sim/replay/jobs.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

// Where messages are fluids, lets collectives of jobs bundle channels, unless a message costs cpu time of its
// own. `topology`: null where there is none. Adds a sentence for each job and kind of bundle that it has, by
// rule or because it was asked for.
void bundle_channels(bool has_fluids, const topologies::Topology* topology, std::vector<ReplayJob>& jobs,
                     std::vector<std::string>& warnings);

}  // namespace weft::sim
