// HPE Cray EX machines: Slingshot Dragonflies whose groups are cabinets of eight chassis, all switches of a
// group linked with each other.
#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "topologies/machines/machine.h"
#include "topologies/machines/machines.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kChassis = 8;

struct Cabinets {
  std::uint32_t groups = 0, switches = 0;  // switches of each group
  std::uint32_t nodes = 0, per_group = 0;  // the last group has the rest
  std::uint32_t per_chassis = 0;           // nodes, as filled from the first chassis
  std::uint32_t nics = 0;
  const char* prefix = "";
  std::uint32_t first = 0;  // number of the first node
  int digits = 0;
};

// A node with four NICs is on two of its chassis' four switches, in turn, by two links each; one with one NIC
// is on one of its chassis' switches, in turn.
std::vector<std::uint32_t> leaves_of(const Cabinets& machine, std::uint32_t in_group) {
  const std::uint32_t each = machine.switches / kChassis;  // switches of a chassis
  const std::uint32_t first = in_group / machine.per_chassis * each, slot = in_group % machine.per_chassis;
  if (machine.nics == 1) return {first + slot % each};
  const std::uint32_t pair = first + slot % (each / 2) * 2;
  return {pair, pair, pair + 1, pair + 1};
}

Topology build_cabinets(const ModuleInfo& info, const Parameters& parameters, const Cabinets& machine) {
  MachineBuilder builder(info, parameters);
  const std::uint32_t groups = machine_groups(parameters, machine.groups);
  for (std::uint32_t g = 0; g < groups; ++g) {
    MachineGroup group;
    for (std::uint32_t s = 0; s < machine.switches; ++s) {
      group.leaves.push_back({fmt::format("switch {}.{}", g, s), g});
    }
    const std::uint32_t begin = g * machine.per_group;
    const std::uint32_t end =
        g + 1 == machine.groups ? machine.nodes : std::min(machine.nodes, begin + machine.per_group);
    for (std::uint32_t n = begin; n < end; ++n) {
      group.hosts.push_back({fmt::format("{}{:0{}}", machine.prefix, machine.first + n, machine.digits),
                             leaves_of(machine, n - begin)});
    }
    builder.add_group(group);
  }
  builder.link_groups(machine.groups);
  return builder.finish();
}

constexpr Cabinets kLumiC = {.groups = 8,
                             .switches = 16,
                             .nodes = 2048,
                             .per_group = 256,
                             .per_chassis = 32,
                             .nics = 1,
                             .prefix = "nid",
                             .first = 1000,
                             .digits = 6};
constexpr Cabinets kLumiG = {.groups = 24,
                             .switches = 32,
                             .nodes = 2978,
                             .per_group = 124,
                             .per_chassis = 16,
                             .nics = 4,
                             .prefix = "nid",
                             .first = 5000,
                             .digits = 6};
constexpr Cabinets kAlps = {.groups = 24,
                            .switches = 32,
                            .nodes = 2688,
                            .per_group = 112,
                            .per_chassis = 14,
                            .nics = 4,
                            .prefix = "nid",
                            .first = 5000,
                            .digits = 6};
constexpr Cabinets kFrontier = {.groups = 74,
                                .switches = 32,
                                .nodes = 9408,
                                .per_group = 128,
                                .per_chassis = 16,
                                .nics = 4,
                                .prefix = "frontier",
                                .first = 1,
                                .digits = 5};

// Slingshot's switch takes 350 ns on average: D. De Sensi et al., SC 2020.
std::vector<ParameterSpec> slingshot_parameters(const char* links_per_pair) {
  return machine_parameters({.groups = "groups (cabinets)",
                             .links_per_pair = links_per_pair,
                             .link = "200Gbps",
                             .host_link = "200Gbps",
                             .switch_latency = "350ns"});
}

const ModuleInfo& lumi_c_info() {
  static const ModuleInfo info = {
      .name = "lumi_c",
      .summary = "LUMI's 2,048 CPU nodes: Slingshot Dragonfly of 8 groups, 200 Gb/s a node.",
      .source =
          "LUMI user guide, https://docs.lumi-supercomputer.eu/hardware/network (groups of 256 nodes on 16 "
          "switches); "
          "node names: Slurm's",
      .parameters = slingshot_parameters("20"),
      .about =
          "Known: nodes, names, 16 switches a group with 16 nodes each. Assumed: 8 groups of 256, as the "
          "guide's count "
          "of 6 is of the time of 1,536 nodes; links between groups (20 of every two let a group send 55% of "
          "what its "
          "nodes can to others, as Frontier's do); that numbers go by cabinet and chassis, so which node is "
          "on which "
          "switch is a guess. Left out: LUMI-G, in the same network, other partitions, storage.",
  };
  return info;
}

const ModuleInfo& lumi_g_info() {
  static const ModuleInfo info = {
      .name = "lumi_g",
      .summary = "LUMI's 2,978 GPU nodes: Slingshot Dragonfly of 24 groups, four 200 Gb/s NICs a node.",
      .source =
          "LUMI user guide, https://docs.lumi-supercomputer.eu/hardware/network (32 switches a group, 16 "
          "endpoints a "
          "switch, 4 endpoints a node); 24 groups and 2,978 nodes: CSC's later descriptions; node names: "
          "Slurm's",
      .parameters = slingshot_parameters("12"),
      .about =
          "Known: nodes, names, groups, switches. Assumed: 124 nodes a group in the order of their numbers, "
          "the last "
          "with 126; a node on two switches by two NICs each (the guide says four switches, other "
          "descriptions two); "
          "which node on which switch; links between groups (12 of every two let a group send 56% of what "
          "its nodes "
          "can to others, as Frontier's do). Left out: LUMI-C, in the same network, other partitions, "
          "storage.",
  };
  return info;
}

const ModuleInfo& alps_info() {
  static const ModuleInfo info = {
      .name = "alps",
      .summary = "Alps' 2,688 GH200 nodes: Slingshot Dragonfly of 24 groups, four 200 Gb/s NICs a node.",
      .source =
          "CSCS documentation, https://docs.cscs.ch/alps/hardware (24 cabinets of 8 chassis with 7 blades of "
          "2 nodes)",
      .parameters = slingshot_parameters("12"),
      .about =
          "Known: cabinets, chassis, nodes, four NICs a node, split over two switches. Assumed: a cabinet is "
          "a group "
          "with 32 switches, as in other machines of this kind, 14 endpoints on each; links between groups "
          "(12 of "
          "every two let a group send 62% of what its nodes can to others); node numbers from nid005000, "
          "by cabinet. Left out: CPU, A100, MI250X and MI300A nodes, in the same network, and storage.",
  };
  return info;
}

const ModuleInfo& frontier_info() {
  static const ModuleInfo info = {
      .name = "frontier",
      .summary = "Frontier's 9,408 nodes: Slingshot Dragonfly of 74 groups, four 200 Gb/s NICs a node.",
      .source =
          "S. Atchley et al., Frontier: exploring exascale, SC 2023; OLCF's Frontier user guide; leaves of "
          "128 nodes as "
          "`scontrol show topology` tells them",
      .parameters = slingshot_parameters("4"),
      .about =
          "Known: 74 cabinets with 128 nodes (the last here with 64) and 32 switches of 16 endpoints, 4 "
          "links between "
          "every two compute groups (270 TB/s in all), names. Assumed: which half of a cabinet has no nodes; "
          "a node on "
          "two switches by two NICs each; which switch a link to another group is on. Left out: the groups "
          "of storage "
          "and management, and cabinets added later.",
  };
  return info;
}

}  // namespace

Family lumi_c() {
  return {lumi_c_info(), [](const Parameters& p) { return build_cabinets(lumi_c_info(), p, kLumiC); }};
}
Family lumi_g() {
  return {lumi_g_info(), [](const Parameters& p) { return build_cabinets(lumi_g_info(), p, kLumiG); }};
}
Family alps() {
  return {alps_info(), [](const Parameters& p) { return build_cabinets(alps_info(), p, kAlps); }};
}
Family frontier() {
  return {frontier_info(), [](const Parameters& p) { return build_cabinets(frontier_info(), p, kFrontier); }};
}

}  // namespace weft::topologies
