// Collectives that leave a machine of several NICs through one of them, or through fewer than NCCL would.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/replay/jobs.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

// Adds a sentence for each job with groups of several ranks on a node whose collectives go around one ring:
// it leaves the node through one NIC, where a library would use as many as there are. And one where NCCL's
// rings go by other nodes than those that a group's ranks are on. `topology`: null where
// there is none.
void tell_one_nic(const topologies::Topology* topology, std::span<const ReplayJob> jobs,
                  std::vector<std::string>& warnings);

}  // namespace weft::sim
