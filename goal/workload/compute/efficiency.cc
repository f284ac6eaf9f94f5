#include "goal/workload/compute/efficiency.h"

namespace weft::goal {

ParameterSpec efficiency_parameter() {
  return {"efficiency", ParameterType::kReal, "auto",
          "Factor on the device's speed. auto: what published steps of training reach of the times of their "
          "operators (`weft describe device`); 1: all of it.",
          above("0").up_to("1000")};
}

double efficiency(const Parameters& parameters, const Device& device) {
  if (parameters.automatic("efficiency")) return device.spec().step_efficiency;
  return parameters.real("efficiency");
}

}  // namespace weft::goal
