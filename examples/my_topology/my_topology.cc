// A topology family of one's own: the Petersen graph of ten switches, the largest network of degree 3 in
// which any two switches are at most two links apart (A. J. Hoffman, R. R. Singleton, IBM J. Res. Dev. 4(5),
// 1960).
#include <string>
#include <vector>

#include "sim/plugins/plugin.h"
#include "topologies/families/cabling.h"

namespace {

using namespace weft::topologies;

weft::ModuleInfo info() {
  return {.name = "petersen",
          .summary = "The Petersen graph: ten switches, each linked to three others.",
          .source = "A. J. Hoffman, R. R. Singleton, On Moore graphs, IBM J. Res. Dev. 4(5), 1960",
          // Behind its own parameters those that all families have: link, host_link, latency, switch_latency.
          .parameters =
              with_cabling({{"p", weft::ParameterType::kInteger, "1", "Hosts on each switch, 1 or more."}})};
}

Topology build(const weft::Parameters& parameters) {
  constexpr std::uint32_t kRing = 5;
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t p = count_parameter(parameters, "p", 1000);
  Topology topology(weft::to_short_form("petersen", parameters));
  std::vector<Vertex> outer, inner;
  for (std::uint32_t i = 0; i < kRing; ++i) {
    outer.push_back(topology.add_switch("outer " + std::to_string(i), 1, i, cabling.switch_latency));
    inner.push_back(topology.add_switch("inner " + std::to_string(i), 1, i, cabling.switch_latency));
    add_hosts(topology, outer.back(), p, cabling.host);
    add_hosts(topology, inner.back(), p, cabling.host);
  }
  for (std::uint32_t i = 0; i < kRing; ++i) {
    topology.add_link(outer[i], outer[(i + 1) % kRing], cabling.fabric);  // a ring
    topology.add_link(inner[i], inner[(i + 2) % kRing], cabling.fabric);  // a star
    topology.add_link(outer[i], inner[i], cabling.fabric);
  }
  topology.finish();  // checks that all of it hangs together
  return topology;
}

}  // namespace

WEFT_PLUGIN(plugin) { plugin.families.push_back({.info = info(), .build = build}); }
