// Which device computes what a generator makes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "goal/workload/compute/device.h"
#include "sim/units/module.h"

namespace weft::goal {

// The parameter of generators that are reckoned on a device. With "auto" a run puts the GPU of its topology's
// nodes there, where that is known (Workload::device).
inline constexpr const char* kDeviceParameter = "device";
ParameterSpec device_parameter();
// Its value; of "auto", where nothing is known of nodes, h100.
const Device& device_of(const Parameters& parameters);
// Tells which device that is where nobody has said.
void remark_usual_device(const Parameters& parameters, std::vector<std::string>& remarks);
// What a run reads of the graph: the device, and what it computes in this precision at most.
std::vector<std::pair<std::string, std::string>> device_facts(const Device& device, Precision precision);

}  // namespace weft::goal
