#include <fmt/core.h>

#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/clos.h"
#include "topologies/families/sizing.h"
#include "topologies/families/trees.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostFatTree2Ports = 2048;

const ModuleInfo& fat_tree2_info() {
  static const ModuleInfo info = {
      .name = "fat_tree2",
      .summary = "Two-level fat tree of k-port switches: k leaves, k/2 spines, k²/2 hosts, full bandwidth.",
      .source =
          "C. Clos, A study of non-blocking switching networks, Bell System Technical Journal 32(2), "
          "1953 (folded)",
      .parameters = with_cabling(
          {{"k", ParameterType::kInteger, "", "Ports of a switch and number of leaves: even, 2 to 2048."}}),
  };
  return info;
}

Topology build_fat_tree2(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t k = even_ports(parameters, "k", kMostFatTree2Ports);
  Topology topology(to_short_form(fat_tree2_info().name, parameters));
  std::vector<Vertex> leaf(k), spine(k / 2);
  for (std::uint32_t l = 0; l < k; ++l) {
    leaf[l] = topology.add_switch(fmt::format("leaf {}", l), 1, l, cabling.switch_latency);
    add_hosts(topology, leaf[l], k / 2, cabling.host);
  }
  for (std::uint32_t s = 0; s < k / 2; ++s) {
    spine[s] = topology.add_switch(fmt::format("spine {}", s), 2, k + s, cabling.switch_latency);
  }
  link_tiers(topology, leaf, spine, k / 2, cabling.fabric);
  topology.finish();
  return topology;
}

SizeParameters size_fat_tree2(std::uint64_t endpoints) {
  const std::uint32_t k = least_size("fat_tree2", endpoints, 2, kMostFatTree2Ports, 2,
                                     [](std::uint32_t ports) { return std::uint64_t{ports} * ports / 2; });
  return {{"k", std::to_string(k)}};
}

}  // namespace

Family fat_tree2() { return {fat_tree2_info(), build_fat_tree2, size_fat_tree2}; }

}  // namespace weft::topologies
