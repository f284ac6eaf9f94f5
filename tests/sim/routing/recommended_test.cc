// What is recommended for each family is a policy, and takes a small network of the family, packet by packet
// and as fluids.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "sim/units/module.h"
#include "tests/sim/routing/registered.h"
#include "topologies/families.h"
#include "topologies/recommended_routing.h"

namespace weft::routing {

TEST_CASE("recommended routing: every family has a policy that takes it") {
  std::size_t special = 0;
  for (const topologies::Family& family : topologies::families()) {
    const std::string name = topologies::recommended_routing(family.info.name).policy;
    INFO(family.info.name << ", " << name);
    const Policy policy = registered(name);
    CHECK(policy.fluid != FluidPaths::kUnknown);
    if (name != "ecmp") ++special;
    const bool is_machine = std::ranges::find(family.info.parameters, "groups", &ParameterSpec::name) !=
                            family.info.parameters.end();
    if (name == "ecmp" || (family.size_for == nullptr && !is_machine)) continue;
    const topologies::Topology topology = topologies::build(
        parse_module_choice(family.info.name + (is_machine ? ":groups=2" : ":endpoints=30")));
    const RoutingTable table(topology);
    const Parameters parameters(policy.info, parse_module_choice(name));
    const PlanSetup setup{parameters, topology, table};
    CHECK(paths_of(policy, setup) != nullptr);
    REQUIRE((policy.make_plan != nullptr || policy.make_path_selectors != nullptr));
    CHECK((policy.make_plan == nullptr || policy.make_plan(setup) != nullptr));
    CHECK((policy.make_path_selectors == nullptr || policy.make_path_selectors(setup) != nullptr));
  }
  CHECK(special >= 10);
  CHECK(std::string(topologies::recommended_routing("no such family").policy) == "ecmp");
}

}  // namespace weft::routing
