// What computes in the hosts of a topology, where these are the accelerators of nodes of a known kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "goal/workload/workload.h"
#include "sim/scenario/scenario.h"

namespace weft::sim {

// Named as in goal/workload/compute.
struct NodeDevice {
  std::string node;     // the kind
  std::string device;   // what its accelerators are
  std::string or_else;  // or may be as well; ""
  std::uint32_t accelerators = 0;
};

// None where hosts are something else, or the sites of a topology have different ones.
std::optional<NodeDevice> node_device(const Scenario& resolved);

// `traffic` with the nodes' device and their number of accelerators in the parameters that `workload` has for
// them, where these are "auto", or not given.
ModuleChoice with_nodes(const ModuleChoice& traffic, const goal::Workload& workload,
                        const Scenario& resolved);

// Tells what was taken for `traffic` (empty: a graph from a file), or that the times of a graph are those of
// another device than the nodes'. `noted`: the device that the graph was reckoned on; "": it doesn't say.
void add_device_remark(const ModuleChoice& traffic, const char* parameter, std::string_view noted,
                       const Scenario& resolved, std::vector<std::string>& remarks);

}  // namespace weft::sim
