// What a run's results say of its routing policy, for network models that have one.
#pragma once

#include <string>
#include <vector>

#include "sim/run/network_model.h"

namespace weft::sim {

// Adds them to `warnings` (routing::run_remarks()). REQUIRES: the run has a fabric.
void add_routing_remarks(const ModelRun& run, bool has_packets, std::vector<std::string>& warnings);

}  // namespace weft::sim
