#include "goal/workload/compute/efficiency.h"

namespace weft::goal {

ParameterSpec efficiency_parameter() {
  return {"efficiency", ParameterType::kReal, "auto",
          "Factor on the device's speed. auto: what published steps of training reach of the times of their "
          "operators (`weft describe device`); 1: all of it."};
}

double efficiency(const Parameters& parameters, const Device& device) {
  if (parameters.automatic("efficiency")) return device.spec().step_efficiency;
  const double factor = parameters.real("efficiency");
  if (!(factor > 0) || factor > 1000) parameters.fail("efficiency", "it must be above 0, up to 1000");
  return factor;
}

}  // namespace weft::goal
