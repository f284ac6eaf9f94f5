#include "goal/workload/compute/efficiency.h"

namespace weft::goal {

ParameterSpec efficiency_parameter(std::string default_value, const std::string& remark) {
  return {"efficiency", ParameterType::kReal, std::move(default_value),
          "Factor on the device's speed." + (remark.empty() ? "" : " " + remark), above("0").up_to("1000")};
}

double efficiency(const Parameters& parameters, const Device& device) {
  if (parameters.automatic("efficiency")) return device.spec().step_efficiency;
  return parameters.real("efficiency");
}

}  // namespace weft::goal
