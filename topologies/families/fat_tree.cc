#include <fmt/core.h>

#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/clos.h"
#include "topologies/families/sizing.h"
#include "topologies/families/trees.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostFatTreePorts = 256;  // kMostHosts hosts

const ModuleInfo& fat_tree_info() {
  static const ModuleInfo info = {
      .name = "fat_tree",
      .summary = "Three-level fat tree of k-port switches: k pods, k³/4 hosts, full bisection bandwidth.",
      .source =
          "M. Al-Fares, A. Loukissas, A. Vahdat, A scalable, commodity data center network architecture, "
          "SIGCOMM 2008",
      .parameters = with_cabling({
          {"k", ParameterType::kInteger, "", "Ports of a switch and number of pods: even, 2 to 256."},
          {"oversubscription", ParameterType::kInteger, "1",
           "Hosts per link up at the edge: an edge switch has oversubscription·k/2 hosts."},
      }),
  };
  return info;
}

Topology build_fat_tree(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t k = even_ports(parameters, "k", kMostFatTreePorts), half = k / 2;
  const auto most = static_cast<std::uint32_t>(kMostHosts / (std::uint64_t{k} * half * half));
  const std::uint32_t hosts_per_edge = half * count_parameter(parameters, "oversubscription", most);

  Topology topology(to_short_form(fat_tree_info().name, parameters));
  std::vector<Vertex> edge(half), aggregation(half), core(half * half);
  for (std::uint32_t c = 0; c < half * half; ++c) {
    core[c] = topology.add_switch(fmt::format("core {}", c), 3, k + c / half, cabling.switch_latency);
  }
  for (std::uint32_t pod = 0; pod < k; ++pod) {
    for (std::uint32_t i = 0; i < half; ++i) {
      edge[i] = topology.add_switch(fmt::format("edge {}.{}", pod, i), 1, pod, cabling.switch_latency);
      add_hosts(topology, edge[i], hosts_per_edge, cabling.host);
    }
    for (std::uint32_t i = 0; i < half; ++i) {
      aggregation[i] =
          topology.add_switch(fmt::format("aggregation {}.{}", pod, i), 2, pod, cabling.switch_latency);
    }
    for (std::uint32_t i = 0; i < half; ++i) {
      for (std::uint32_t j = 0; j < half; ++j) topology.add_link(edge[i], aggregation[j], cabling.fabric);
    }
    for (std::uint32_t i = 0; i < half; ++i) {
      for (std::uint32_t j = 0; j < half; ++j) {
        topology.add_link(aggregation[i], core[i * half + j], cabling.fabric);
      }
    }
  }
  topology.finish();
  return topology;
}

SizeParameters size_fat_tree(std::uint64_t endpoints) {
  const std::uint32_t k = least_size("fat_tree", endpoints, 2, kMostFatTreePorts, 2, [](std::uint32_t ports) {
    return std::uint64_t{ports} * ports * ports / 4;
  });
  return {{"k", std::to_string(k)}};
}

}  // namespace

Family fat_tree() { return {fat_tree_info(), build_fat_tree, size_fat_tree}; }

}  // namespace weft::topologies
