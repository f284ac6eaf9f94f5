#include "sim/routing/run_remarks.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace weft::routing {
namespace {

// Without packets.
bool has_effect(const Policy& policy, const std::string& parameter) {
  // What single paths and path models follow from.
  const bool is_followed = policy.fluid == FluidPaths::kModel || policy.fluid == FluidPaths::kOne;
  return is_followed && std::ranges::find(policy.for_packets, parameter) == policy.for_packets.end();
}

}  // namespace

std::vector<std::string> run_remarks(const Policy& policy, const PlanSetup& setup, const RunTraits& traits) {
  std::vector<std::string> remarks;
  for (const ParameterSpec& spec : policy.info.parameters) {
    if (traits.has_packets || has_effect(policy, spec.name)) continue;
    if (setup.parameters.text(spec.name) == spec.default_value) continue;
    remarks.push_back(
        fmt::format("routing.{}.{} has no effect: network model flow has no packets to choose for",
                    policy.info.name, spec.name));
  }
  // Nothing is said of what divides between detours and direct ways as loads balance: remarks are on how
  // packets come to that.
  const bool is_balanced = !traits.has_packets && policy.fluid == FluidPaths::kBalanced;
  if (policy.remark != nullptr && !is_balanced) {
    if (std::string text = policy.remark(setup); !text.empty()) remarks.push_back(std::move(text));
  }
  if (traits.rates_change && policy.on_slow_links != nullptr) {
    remarks.push_back(fmt::format("routing policy {}: {}", policy.info.name, policy.on_slow_links));
  }
  return remarks;
}

}  // namespace weft::routing
