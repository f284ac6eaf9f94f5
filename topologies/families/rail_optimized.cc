#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/clos.h"
#include "topologies/families/sizing.h"
#include "topologies/families/trees.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostRailOptimizedPorts = 2048, kMostNodeRails = 64;
// The switches of the reference architecture have so many ports. Smaller units may have spines as large.
constexpr std::uint32_t kUsualPorts = 64;

const ModuleInfo& rail_optimized_info() {
  static const ModuleInfo info = {
      .name = "rail_optimized",
      .summary =
          "Rail-optimized leaf-spine (DGX SuperPOD): NIC r of all hosts of a unit is on the unit's leaf r.",
      .source = "NVIDIA DGX SuperPOD reference architecture, DGX H100, compute fabric, 2023",
      .parameters = with_cabling({
          {"units", ParameterType::kInteger, "",
           "Scalable units, as many as a spine of twice `nodes` ports, or 64, has links for."},
          {"nodes", ParameterType::kInteger, "32", "Hosts of a unit, half a leaf's ports."},
          {"rails", ParameterType::kInteger, "8", "NICs of a host, and leaves of a unit."},
          {"spines", ParameterType::kInteger, "auto",
           "Spine switches, a divisor of `nodes`; auto: the least with no more ports than a leaf, else than "
           "64."},
      }),
  };
  return info;
}

// The least divisor of `nodes`, the links up of a leaf, that gives spines of so many ports room for all of
// them; there is one where the ports are no fewer than the leaves.
std::uint32_t least_spines(std::uint32_t leaves, std::uint32_t nodes, std::uint32_t ports) {
  for (std::uint32_t spines = 1; spines < nodes; ++spines) {
    if (nodes % spines == 0 && std::uint64_t{leaves} * nodes <= std::uint64_t{ports} * spines) return spines;
  }
  return nodes;
}

Topology build_rail_optimized(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t rails = count_parameter(parameters, "rails", kMostNodeRails);
  const std::uint32_t nodes = count_parameter(parameters, "nodes", kMostRailOptimizedPorts / 2);
  const std::uint32_t units = count_parameter(parameters, "units", kMostRailOptimizedPorts);
  const std::uint32_t leaves = units * rails, most_ports = std::max(2 * nodes, kUsualPorts);
  if (leaves > most_ports) {
    parameters.fail("units",
                    fmt::format("{} leaves need a port each on a spine, which has {}: at most {} units "
                                "of {} rails; larger units (nodes) have larger switches",
                                leaves, most_ports, most_ports / rails, rails));
  }
  const std::uint32_t ports = leaves <= 2 * nodes ? 2 * nodes : kUsualPorts;
  const std::uint32_t spines =
      count_parameter(parameters, "spines", nodes, least_spines(leaves, nodes, ports));
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

// Takes units of 32 hosts, and where 8 of them are too few, larger units with larger switches.
SizeParameters size_rail_optimized(std::uint64_t endpoints) {
  const std::uint32_t nodes = least_size("rail_optimized", endpoints, 32, kMostRailOptimizedPorts / 2, 4,
                                         [](std::uint32_t n) { return std::uint64_t{n} * (n / 4); });
  return {{"units", std::to_string((endpoints + nodes - 1) / nodes)}, {"nodes", std::to_string(nodes)}};
}

}  // namespace

Family rail_optimized() { return {rail_optimized_info(), build_rail_optimized, size_rail_optimized}; }

}  // namespace weft::topologies
