#include <fmt/core.h>

#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/clos.h"
#include "topologies/families/sizing.h"
#include "topologies/families/trees.h"

namespace weft::topologies {
namespace {

const ModuleInfo& leaf_spine_info() {
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
          {"uplinks", ParameterType::kInteger, "auto",
           "Links from a leaf up, spread over the spines; auto: links_per_pair to each spine."},
          {"cores", ParameterType::kInteger, "0",
           "Switches of a third level; each spine has as many links up to them as it has down."},
      }),
  };
  return info;
}

std::uint32_t read_uplinks(const Parameters& parameters, std::uint32_t spines) {
  const std::uint32_t parallel = count_parameter(parameters, "links_per_pair", 1024);
  if (parameters.automatic("uplinks")) return spines * parallel;
  const std::uint32_t uplinks = count_parameter(parameters, "uplinks", 1 << 16);
  if (parallel != 1 && uplinks != spines * parallel) {
    parameters.fail("uplinks", "links_per_pair is given too; leave one of them out");
  }
  return uplinks;
}

// Links of all spines are dealt to the cores in turn, so that these differ by one at most.
void add_cores(const Parameters& parameters, const Cabling& cabling, Topology& topology,
               const std::vector<Vertex>& spine) {
  const std::int64_t given = parameters.integer("cores");
  if (given < 0 || given > 1 << 16) {
    parameters.fail(
        "cores", fmt::format("it must be from 0 to {}; the nearest is {}", 1 << 16, given < 0 ? 0 : 1 << 16));
  }
  const auto cores = static_cast<std::uint32_t>(given);
  std::vector<Vertex> core(cores);
  for (std::uint32_t c = 0; c < cores; ++c) {
    core[c] = topology.add_switch(fmt::format("core {}", c), 3, topology.node(spine.back()).group + 1 + c,
                                  cabling.switch_latency);
  }
  std::vector<std::size_t> down(topology.nodes(), 0);
  for (const Edge& edge : topology.edges()) {
    ++down[edge.from];
    ++down[edge.to];
  }
  std::size_t next = 0;
  for (const Vertex v : spine) {
    for (std::size_t i = 0; i < down[v] && cores > 0; ++i) {
      topology.add_link(v, core[next++ % cores], cabling.fabric);
    }
  }
}

Topology build_leaf_spine(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t leaves = count_parameter(parameters, "leaves", 1 << 16);
  const std::uint32_t spines = count_parameter(parameters, "spines", 1 << 16);
  const std::uint32_t uplinks = read_uplinks(parameters, spines);
  const auto most = static_cast<std::uint32_t>(kMostHosts / leaves);
  const std::uint32_t hosts_per_leaf = count_parameter(parameters, "hosts_per_leaf", most);
  if (std::uint64_t{leaves} * uplinks > kMostHosts) {
    parameters.fail("spines", fmt::format("leaves × spines × links_per_pair must be at most {}", kMostHosts));
  }

  Topology topology(to_short_form(leaf_spine_info().name, parameters));
  std::vector<Vertex> leaf(leaves), spine(spines);
  for (std::uint32_t l = 0; l < leaves; ++l) {
    leaf[l] = topology.add_switch(fmt::format("leaf {}", l), 1, l, cabling.switch_latency);
    add_hosts(topology, leaf[l], hosts_per_leaf, cabling.host);
  }
  for (std::uint32_t s = 0; s < spines; ++s) {
    spine[s] = topology.add_switch(fmt::format("spine {}", s), 2, leaves + s, cabling.switch_latency);
  }
  link_tiers(topology, leaf, spine, uplinks, cabling.fabric);
  add_cores(parameters, cabling, topology, spine);
  topology.finish();
  return topology;
}

// Takes switches with k ports, half of them up: the least k, and as many leaves as that takes.
SizeParameters size_leaf_spine(std::uint64_t endpoints) {
  const std::uint32_t half = least_size("leaf_spine", endpoints, 1, 1024, 1,
                                        [](std::uint32_t h) { return std::uint64_t{2} * h * h; });
  return {{"leaves", std::to_string((endpoints + half - 1) / half)},
          {"spines", std::to_string(half)},
          {"hosts_per_leaf", std::to_string(half)}};
}

}  // namespace

Family leaf_spine() { return {leaf_spine_info(), build_leaf_spine, size_leaf_spine}; }

}  // namespace weft::topologies
