// Each real machine has an entry, and what that says can be read.
#include "sim/fabrics/machine_hosts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "goal/collectives/selection_profiles.h"
#include "sim/replay/protocols.h"
#include "sim/units/module.h"
#include "topologies/machines/machines.h"

namespace weft::fabrics {

TEST_CASE("every machine of topologies/machines has hosts, and nothing else has") {
  const auto machines = topologies::machine_families();
  for (const topologies::Family& machine : machines) {
    INFO(machine.info.name);
    CHECK(host_costs(machine.info.name) != nullptr);
  }
  CHECK(machine_hosts().size() == machines.size());
  CHECK(host_costs("fat_tree") == nullptr);
}

TEST_CASE("protocols and profiles of machines are among those built in, with parameters that can be read") {
  for (const MachineHosts& machine : machine_hosts()) {
    INFO(machine.family);
    const HostCosts& costs = *machine.costs;
    const ModuleChoice choice = parse_module_choice(std::string(costs.protocol));
    const auto protocol = std::ranges::find(sim::protocols(), choice.name, &ModuleInfo::name);
    REQUIRE(protocol != sim::protocols().end());
    sim::HostConfig hosts;
    CHECK_NOTHROW(sim::apply_protocol(Parameters(*protocol, choice), hosts));
    // UCX's and CXI's; of Fugaku a fit, and a doubt.
    CHECK(hosts.eager_limit_bytes == (machine.family == "fugaku" ? 65536 : 16384));
    CHECK(std::ranges::any_of(goal::selection_profiles(), [&](const goal::SelectionProfile& profile) {
      return profile.info.name == costs.profile && !profile.library.empty();
    }));
    CHECK(!costs.source.empty());
    CHECK(!costs.doubt.empty());
  }
}

}  // namespace weft::fabrics
