#include <fmt/format.h>

#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/trees.h"

namespace weft::topologies {
namespace {

const ModuleInfo& info() {
  static const ModuleInfo info = {
      .name = "leaf_spine",
      .summary = "Two levels of switches: every leaf holds hosts and is linked to every spine.",
      .source =
          "C. Clos, A study of non-blocking switching networks, Bell System Technical Journal 32(2), "
          "1953 (folded)",
      .parameters = with_cabling({
          {"leaves", ParameterType::kInteger, "", "Number of leaf switches, 1 or more."},
          {"spines", ParameterType::kInteger, "", "Number of spine switches, 1 or more."},
          {"hosts_per_leaf", ParameterType::kInteger, "", "Number of hosts on each leaf, 1 or more."},
          {"links_per_pair", ParameterType::kInteger, "1", "Parallel links between a leaf and a spine."},
      }),
  };
  return info;
}

Topology build(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t leaves = count_parameter(parameters, "leaves", 1 << 16);
  const std::uint32_t spines = count_parameter(parameters, "spines", 1 << 16);
  const std::uint32_t parallel = count_parameter(parameters, "links_per_pair", 1024);
  const auto most = static_cast<std::uint32_t>(kMostHosts / leaves);
  const std::uint32_t hosts_per_leaf = count_parameter(parameters, "hosts_per_leaf", most);
  if (std::uint64_t{leaves} * spines * parallel > kMostHosts) {
    parameters.fail("spines", fmt::format("leaves × spines × links_per_pair must be at most {}", kMostHosts));
  }

  Topology topology(to_short_form(info().name, parameters));
  std::vector<Vertex> leaf(leaves), spine(spines);
  for (std::uint32_t l = 0; l < leaves; ++l) {
    leaf[l] = topology.add_switch(fmt::format("leaf {}", l), 1, l, cabling.switch_latency);
    for (std::uint32_t i = 0; i < hosts_per_leaf; ++i) {
      topology.add_link(topology.add_host(fmt::format("host {}", l * hosts_per_leaf + i), l), leaf[l],
                        cabling.host);
    }
  }
  for (std::uint32_t s = 0; s < spines; ++s) {
    spine[s] = topology.add_switch(fmt::format("spine {}", s), 2, leaves + s, cabling.switch_latency);
  }
  for (std::uint32_t l = 0; l < leaves; ++l) {
    for (std::uint32_t s = 0; s < spines; ++s) {
      for (std::uint32_t i = 0; i < parallel; ++i) topology.add_link(leaf[l], spine[s], cabling.fabric);
    }
  }
  topology.finish();
  return topology;
}

}  // namespace

Family leaf_spine() { return {info(), build}; }

}  // namespace weft::topologies
