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

// Its paths on such a topology.
PathMaker maker(const topologies::Topology& topology, const routing::Policy& policy) {
  return [&topology, policy](const routing::RoutingTable& table, std::span<const double>) {
    const ModuleChoice choice{.name = policy.info.name};
    return routing::paths_of(policy, {Parameters(policy.info, choice), topology, table});
  };
}

// Returns the share of all hosts' rate that gets through; every host h sends to h + by, or to all others if
// that is 0.
double accepted(const topologies::Topology& topology, const routing::Policy& policy, std::uint32_t by) {
  Run run(topology, policy, {}, {}, 1, maker(topology, policy));
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

// How long it takes until the network is idle again, when each host h sends to some others behind it.
// Messages differ, so that they end one by one and shares are worked out many times.
Time exchange(Run& run, std::uint32_t hosts, const std::vector<std::uint32_t>& others) {
  const Time start = run.engine.now();
  for (std::uint32_t h = 0; h < hosts; ++h) {
    for (const std::uint32_t by : others) run.send(h, (h + by) % hosts, kBytes / 4 * (1 + (h + by) % 4));
  }
  run.run();
  return run.engine.now() - start;
}

}  // namespace

TEST_CASE("balanced fluids: after idle time the same traffic takes the same time, whatever came before") {
  for (const char* choice : {"dragonfly:p=2", "megafly:p=2", "hyperx:dims=4x4,hosts=4", "slim_fly:q=5"}) {
    const topologies::Topology topology = topologies::build(parse_module_choice(choice));
    for (const routing::Policy& policy :
         {routing::ugal(), routing::ugal_g(), routing::par(), routing::slingshot()}) {
      INFO(choice << ", " << policy.info.name);
      Run run(topology, policy, {}, {}, 1, maker(topology, policy));
      const std::uint32_t hosts = topology.hosts();
      const Time once = exchange(run, hosts, {1, 4, 8});
      for (std::uint32_t i = 2; i <= 32; ++i) {
        const Time again = exchange(run, hosts, {1, 4, 8});
        CHECK(again.seconds() == Approx(once.seconds()).epsilon(0.01));
        if (i == 8) exchange(run, hosts, {8});
        if (i == 16) exchange(run, hosts / 4, {1, 2, 3, 5});
      }
    }
  }
}

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
