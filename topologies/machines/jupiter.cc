// JUPITER's Booster, Jülich Supercomputing Centre: Dragonfly+ of NDR InfiniBand.
#include <fmt/core.h>

#include "topologies/machines/machine.h"
#include "topologies/machines/machines.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kGroups = 25, kRacks = 5, kLeavesInRack = 3, kNodesInRack = 48, kSpinesInGroup = 16;
constexpr std::uint32_t kNics = 4, kLinksToSpine = 2;

const ModuleInfo& info() {
  static const ModuleInfo info = {
      .name = "jupiter",
      .summary = "JUPITER's 6,000 Booster nodes: Dragonfly+ of 25 groups, NDR, four 200 Gb/s NICs a node.",
      .source =
          "Jülich Supercomputing Centre, JUPITER configuration, https://apps.fz-juelich.de/jsc/hps/jupiter, "
          "and JUPITER "
          "technical overview (240 nodes, 15 L1 and 16 L2 switches a group; full fat tree within)",
      .parameters = machine_parameters({.groups = "groups",
                                        .links_per_pair = "16",
                                        .link = "400Gbps",
                                        .host_link = "200Gbps",
                                        .switch_latency = "130ns"}),
      .about =
          "Known: 25 groups of five racks with 48 nodes and three leaves, 16 spines, four NDR200 NICs a "
          "node, no "
          "oversubscription within a group. From these: 16 nodes and two links to each spine a leaf. "
          "Assumed: a node's "
          "NICs are on one leaf, slots in turn of 16; 16 links between every two groups, one from each spine "
          "(20 would "
          "use all ports if 27 groups have as many); racks numbered from jpbo-001 on without gaps. Left out: "
          "the groups "
          "of the Cluster and of storage.",
  };
  return info;
}

Topology build(const Parameters& parameters) {
  MachineBuilder builder(info(), parameters);
  const std::uint32_t groups = machine_groups(parameters, kGroups);
  for (std::uint32_t g = 0; g < groups; ++g) {
    MachineGroup group;
    for (std::uint32_t r = 0; r < kRacks; ++r) {
      const std::uint32_t rack = g * kRacks + r;
      for (std::uint32_t l = 0; l < kLeavesInRack; ++l) {
        group.leaves.push_back({fmt::format("L1 {}.{}", g, r * kLeavesInRack + l), rack});
      }
      for (std::uint32_t n = 0; n < kNodesInRack; ++n) {
        const std::uint32_t leaf = r * kLeavesInRack + n / (kNodesInRack / kLeavesInRack);
        group.hosts.push_back(
            {fmt::format("jpbo-{:03}-{:02}", rack + 1, n + 1), std::vector<std::uint32_t>(kNics, leaf)});
      }
    }
    // Three in each rack, and one more in the third.
    for (std::uint32_t s = 0; s < kSpinesInGroup; ++s) {
      const std::uint32_t rack = s + 1 == kSpinesInGroup ? 2 : s / kLeavesInRack;
      group.spines.push_back({fmt::format("L2 {}.{}", g, s), g * kRacks + rack});
    }
    builder.add_group(group, kLinksToSpine);
  }
  builder.link_groups(kGroups);
  return builder.finish();
}

}  // namespace

Family jupiter() { return {info(), build}; }

}  // namespace weft::topologies
