#include <fmt/core.h>

#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/clos.h"
#include "topologies/families/sizing.h"
#include "topologies/families/trees.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostRailOptimizedPorts = 2048, kMostNodeRails = 64;

const ModuleInfo& rail_optimized_info() {
  static const ModuleInfo info = {
      .name = "rail_optimized",
      .summary =
          "Rail-optimized leaf-spine (DGX SuperPOD): NIC r of all hosts of a unit is on the unit's leaf r.",
      .source = "NVIDIA DGX SuperPOD reference architecture, DGX H100, compute fabric, 2023",
      .parameters = with_cabling({
          {"units", ParameterType::kInteger, "", "Scalable units."},
          {"nodes", ParameterType::kInteger, "32", "Hosts of a unit, half a leaf's ports."},
          {"rails", ParameterType::kInteger, "8", "NICs of a host, and leaves of a unit."},
          {"spines", ParameterType::kInteger, "auto",
           "Spine switches, a divisor of `nodes`; auto: the least with as many ports as a leaf or fewer."},
      }),
  };
  return info;
}

// The least divisor of `nodes` that gives a spine of `2 nodes` ports room for all links up; 0: there is none.
std::uint32_t least_spines(std::uint32_t leaves, std::uint32_t nodes) {
  for (std::uint32_t spines = 1; spines <= nodes; ++spines) {
    if (nodes % spines == 0 && leaves <= 2 * spines) return spines;
  }
  return 0;
}

Topology build_rail_optimized(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t rails = count_parameter(parameters, "rails", kMostNodeRails);
  const std::uint32_t nodes = count_parameter(parameters, "nodes", kMostRailOptimizedPorts / 2);
  const std::uint32_t most = 2 * nodes / rails;
  if (most == 0)
    parameters.fail("nodes", fmt::format("a spine has 2·nodes ports, too few for {} rails; nodes={} is the "
                                         "least, and hosts may stay empty",
                                         rails, (rails + 1) / 2));
  const std::uint32_t units = count_parameter(parameters, "units", most), leaves = units * rails;
  const std::uint32_t spines = count_parameter(parameters, "spines", nodes, least_spines(leaves, nodes));
  if (nodes % spines != 0) {
    parameters.fail("spines", fmt::format("it must divide the {} links up of a leaf", nodes));
  }

  Topology topology(to_short_form(rail_optimized_info().name, parameters));
  std::vector<Vertex> leaf, spine;
  for (std::uint32_t unit = 0; unit < units; ++unit) {
    for (std::uint32_t r = 0; r < rails; ++r) {
      leaf.push_back(
          topology.add_switch(fmt::format("leaf {}.{}", unit, r), 1, unit, cabling.switch_latency));
    }
    for (std::uint32_t n = 0; n < nodes; ++n) {
      const Vertex host = topology.add_host(fmt::format("host {}", topology.hosts()), unit);
      for (std::uint32_t r = 0; r < rails; ++r) topology.add_link(host, leaf[unit * rails + r], cabling.host);
    }
  }
  for (std::uint32_t s = 0; s < spines; ++s) {
    spine.push_back(topology.add_switch(fmt::format("spine {}", s), 2, units + s, cabling.switch_latency));
  }
  link_tiers(topology, leaf, spine, nodes, cabling.fabric);
  topology.finish();
  return topology;
}

// Of units of 32 hosts; beyond 8 of them with larger switches.
SizeParameters size_rail_optimized(std::uint64_t endpoints) {
  const std::uint32_t nodes = least_size("rail_optimized", endpoints, 32, kMostRailOptimizedPorts / 2, 4,
                                         [](std::uint32_t n) { return std::uint64_t{n} * (n / 4); });
  return {{"units", std::to_string((endpoints + nodes - 1) / nodes)}, {"nodes", std::to_string(nodes)}};
}

}  // namespace

Family rail_optimized() { return {rail_optimized_info(), build_rail_optimized, size_rail_optimized}; }

}  // namespace weft::topologies
