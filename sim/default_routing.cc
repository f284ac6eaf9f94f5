#include "sim/default_routing.h"

#include <fmt/core.h>

#include "sim/routing/policies/policies.h"
#include "sim/routing/routing.h"
#include "sim/units/input_error.h"
#include "topologies/recommended_routing.h"

namespace weft::sim {
namespace {

ModuleChoice with_all_parameters(const ModuleInfo& info) {
  ModuleChoice choice{.name = info.name};
  const Parameters defaults(info, choice);
  for (const ParameterSpec& spec : info.parameters) choice.given[spec.name] = defaults.text(spec.name);
  return choice;
}

// Throws InputError that says why not.
void check_size(const routing::Policy& policy, const topologies::Topology& topology, bool balances) {
  constexpr std::uint32_t kMostBalanced = 2000;  // switches; half a minute for 40,000 hosts
  if (balances && policy.fluid == routing::FluidPaths::kBalanced && topology.switches() > kMostBalanced) {
    throw InputError("without packets it takes minutes on more than 2,000 switches, unless asked for");
  }
  constexpr std::uint32_t kMostNamed = 500;  // switches; 8 ways of two of them take up to 0.3 ms
  if (policy.info.name == "k_shortest" && topology.switches() > kMostNamed) {
    throw InputError(
        "to find k shortest paths takes long on more than 500 switches, so it is left out unless asked for");
  }
}

}  // namespace

std::string routing_reason(std::string_view family) {
  const bool is_recommended = *topologies::recommended_routing(family).source != 0;
  return fmt::format("{} {}", is_recommended ? "recommended for" : "as nothing is recommended for", family);
}

DefaultRouting default_routing(std::string_view family, const topologies::Topology& topology,
                               const routing::RoutingTable& table, std::uint64_t seed, bool balances) {
  const ModuleChoice best{.name = topologies::recommended_routing(family).policy};
  const routing::Policy& policy = find_module(routing::policies(), best, "routing policy");
  DefaultRouting result{with_all_parameters(policy.info), routing_reason(family)};
  try {
    check_size(policy, topology, balances);
    const Parameters parameters(policy.info, best);
    (void)routing::paths_of(policy, {parameters, topology, table, seed});
  } catch (const InputError& error) {
    result.policy = with_all_parameters(routing::policies().front().info);
    result.reason = fmt::format("{} is recommended for {}, but: {}", best.name, family, error.what());
  }
  return result;
}

}  // namespace weft::sim
