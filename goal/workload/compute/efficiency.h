// How near whole steps come to the times of their operators: what lies between kernels, and clocks that fall
// under a load that lasts, are in no table of operators.
#pragma once

#include "goal/workload/compute/device.h"
#include "sim/units/module.h"

namespace weft::goal {

// The parameter `efficiency` of a generator: a factor on the device's speed. `remark` says what the default
// stands for; "auto" is the device's `step_efficiency`.
ParameterSpec efficiency_parameter(std::string default_value, const std::string& remark);
// Its value for this device.
double efficiency(const Parameters& parameters, const Device& device);

}  // namespace weft::goal
