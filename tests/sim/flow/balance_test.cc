// Policies that weigh detours against direct ways, as fluids: what networks take of the worst traffic and of
// uniform traffic, against the fluid model of loads; and that bytes are where their ways lead.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/routing/policies/ugal.h"
#include "sim/routing/policies/valiant.h"
#include "sim/units/module.h"
#include "tests/sim/flow/support.h"

namespace weft::sim::flow {
namespace {

constexpr std::uint64_t kBytes = 4096 * 256;

// Of all hosts' rate, what gets through; every host h sends to h + by.
double accepted(const topologies::Topology& topology, const routing::Policy& policy, std::uint32_t by) {
  const ModuleChoice choice{.name = policy.info.name};
  const Parameters parameters(policy.info, choice);
  const PathMaker make = [&](const routing::RoutingTable& table, std::span<const double>) {
    return routing::paths_of(policy, {parameters, topology, table});
  };
  Run run(topology, policy, {}, {}, 1, make);
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    if (by > 0) run.send(h, (h + by) % topology.hosts(), kBytes);
    for (std::uint32_t d = 0; by == 0 && d < topology.hosts(); ++d) {
      if (d != h) run.send(h, d, kBytes);
    }
  }
  run.run();
  // What switches send on is what they have got.
  std::vector<double> balance(topology.nodes());
  const std::vector<results::Link> links = run.network.links();
  for (std::size_t c = 0; c < links.size(); ++c) {
    balance[topology.channels()[c].from] -= static_cast<double>(links[c].bytes);
    balance[topology.channels()[c].to] += static_cast<double>(links[c].bytes);
  }
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    CHECK(std::abs(balance[topology.switch_at(s)]) < 100);
  }
  const double rate = static_cast<double>(topology.channels()[0].rate.bps());
  const double messages = by > 0 ? 1 : topology.hosts() - 1;
  const double alone = static_cast<double>(kBytes) * 8 * 4160 / 4096 * messages / rate;
  return alone / run.engine.now().seconds();
}

}  // namespace

TEST_CASE("balanced fluids: the worst traffic is taken as by detours, uniform traffic as on direct ways") {
  struct Case {
    std::string topology;
    std::uint32_t worst;
  };
  const std::vector<Case> cases = {{"dragonfly:p=2,latency=1ns", 8},
                                   {"hyperx:dims=4x4,hosts=4,latency=1ns", 4}};
  for (const Case& each : cases) {
    INFO(each.topology);
    const topologies::Topology topology = topologies::build(parse_module_choice(each.topology));
    const double valiant = accepted(topology, routing::valiant(), each.worst);
    CHECK(valiant > 0.49);
    for (const routing::Policy& policy :
         {routing::ugal(), routing::ugal_g(), routing::par(), routing::slingshot()}) {
      const double adverse = accepted(topology, policy, each.worst);
      CHECK(adverse > 0.97 * valiant);
      CHECK(adverse < 1.1 * valiant);
    }
    CHECK(accepted(topology, routing::ugal(), 0) > 0.97);
  }
}

}  // namespace weft::sim::flow
