// What the profile `nccl` takes for a node where the user leaves it open.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

// Are the hosts of its topology the accelerators of nodes? What they do together is NCCL's (or RCCL's) then.
bool has_gpu_nodes(const Scenario& resolved);

// Is it the profile `nccl`, whatever its parameters are?
bool is_nccl(std::string_view profile);

// `profile` as given, with the topology's kind of node, its GPUs and its NICs where the profile doesn't say:
// nodes of scale_up are those of NCCL, hosts that stand alone have as many GPUs as ranks. Other profiles are
// left as they are. `topology`: null where there is none.
std::string with_nccl_node(const std::string& profile, const Scenario& resolved,
                           const topologies::Topology* topology);

// `profile` with GPUs whose channels cost no time; other profiles are left as they are.
std::string without_gpu_costs(const std::string& profile);

// Tells what was taken, and where profile and topology contradict each other.
void add_nccl_remarks(const Scenario& resolved, std::vector<std::string>& warnings);

}  // namespace weft::sim
