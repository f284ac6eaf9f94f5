#include "sim/run/default_routing.h"

#include <fmt/core.h>

#include <array>

#include "sim/fabrics/fabrics.h"
#include "sim/routing/policies/policies.h"
#include "sim/routing/routing.h"
#include "sim/units/input_error.h"
#include "topologies/recommended_routing.h"

namespace weft::sim {
namespace {

ModuleChoice with_all_parameters(const ModuleInfo& info, const ModuleChoice& some) {
  ModuleChoice choice{.name = info.name};
  const Parameters values(info, some);
  for (const ParameterSpec& spec : info.parameters) choice.given[spec.name] = values.text(spec.name);
  return choice;
}

// Detours are balanced between the switches outside nodes of several accelerators.
std::uint32_t outer_switches(const topologies::Topology& topology) {
  std::uint32_t count = 0;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    count += topology.node(topology.switch_at(s)).domain == topologies::kNoDomain ? 1 : 0;
  }
  return count;
}

// To balance detours takes minutes here.
bool balances_for_long(const routing::Policy& policy, const topologies::Topology& topology) {
  constexpr std::uint32_t kMost = 2500;  // switches: Frontier has 2,368, and takes a minute where all send
  return policy.fluid == routing::FluidPaths::kBalanced && outer_switches(topology) > kMost;
}

// Throws InputError that says why not.
void check_size(const routing::Policy& policy, const topologies::Topology& topology) {
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

DefaultRouting wanted_routing(std::string_view family, std::string_view fabric, bool has_packets) {
  const std::string recommended = topologies::recommended_routing(family).policy;
  const auto with = [](const ModuleChoice& choice, const std::string& reason) {
    const routing::Policy& policy = find_module(routing::policies(), choice, "routing policy");
    return DefaultRouting{with_all_parameters(policy.info, choice), reason};
  };
  if (!fabric.empty() && fabric != fabrics::kNone) {
    const fabrics::Fabric& settings =
        find_module(fabrics::fabrics(), ModuleChoice{.name = std::string(fabric)}, "fabric");
    if (const fabrics::FabricRouting* own = fabrics::routing_for(settings, family, recommended)) {
      const ModuleInfo& usual =
          find_module(routing::policies(), ModuleChoice{.name = recommended}, "routing policy").info;
      return with(fabrics::policy_of(*own, usual, has_packets),
                  fabrics::reason_of(settings, *own, routing_reason(family)));
    }
  }
  return with(ModuleChoice{.name = recommended}, routing_reason(family));
}

DefaultRouting default_routing(std::string_view family, std::string_view fabric,
                               const topologies::Topology& topology, const routing::RoutingTable& table,
                               std::uint64_t seed, bool balances) {
  std::string why_not, detours_left_out;
  std::array candidates{wanted_routing(family, fabric, !balances), wanted_routing(family, "", !balances)};
  for (DefaultRouting& wanted : candidates) {
    const routing::Policy& policy = find_module(routing::policies(), wanted.policy, "routing policy");
    try {
      if (balances && balances_for_long(policy, topology)) {
        detours_left_out = policy.info.name;
        throw InputError("without packets it takes minutes on more than 2,500 switches, unless asked for");
      }
      check_size(policy, topology);
      const Parameters parameters(policy.info, wanted.policy);
      (void)routing::paths_of(policy, {parameters, topology, table, seed});
      if (!why_not.empty()) wanted.reason += ", as " + why_not;
      wanted.detours_left_out = detours_left_out;
      return wanted;
    } catch (const InputError& error) {
      if (why_not.empty()) {
        why_not = fmt::format("{} is {}, but: {}", wanted.policy.name, wanted.reason, error.what());
      }
    }
  }
  return {with_all_parameters(routing::policies().front().info, {}), why_not, detours_left_out};
}

}  // namespace weft::sim
