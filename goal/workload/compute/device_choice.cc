#include "goal/workload/compute/device_choice.h"

#include <fmt/core.h>

namespace weft::goal {
namespace {

constexpr const char* kUsualDevice = "h100";

}  // namespace

ParameterSpec device_parameter() {
  return {kDeviceParameter, ParameterType::kText, "auto",
          fmt::format("What computes: {}, or a file of measurements; auto: the GPU of the topology's nodes "
                      "(node of scale_up), else {}.",
                      device_names(), kUsualDevice)};
}

const Device& device_of(const Parameters& parameters) {
  return find_device(parameters.automatic(kDeviceParameter) ? kUsualDevice
                                                            : parameters.text(kDeviceParameter));
}

void remark_usual_device(const Parameters& parameters, std::vector<std::string>& remarks) {
  if (!parameters.automatic(kDeviceParameter)) return;
  remarks.push_back(fmt::format(
      "device {}, as neither the traffic nor the topology says what computes; device=... says other "
      "(weft list devices)",
      kUsualDevice));
}

std::vector<std::pair<std::string, std::string>> device_facts(const Device& device, Precision precision) {
  return {{"device", device.name()}, {"device_flops", fmt::format("{:.6e}", device.peak_flops(precision))}};
}

}  // namespace weft::goal
