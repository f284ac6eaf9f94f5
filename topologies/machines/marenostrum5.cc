// MareNostrum 5, Barcelona Supercomputing Center: fat trees of NDR InfiniBand in islands.
#include <fmt/core.h>

#include <string>

#include "topologies/machines/machine.h"
#include "topologies/machines/machines.h"

namespace weft::topologies {
namespace {

struct Islands {
  std::uint32_t groups = 0, racks = 0;  // racks of each island
  std::uint32_t nodes = 0, in_rack = 0;
  std::uint32_t leaves_in_rack = 0, spines = 0, to_spine = 0;  // links of a leaf to each spine
  std::uint32_t cores = 0, uplinks = 0;                        // links of a spine up
  std::uint32_t nics = 0;
};

constexpr Islands kGpp = {.groups = 3,
                          .racks = 30,
                          .nodes = 6408,
                          .in_rack = 72,
                          .leaves_in_rack = 1,
                          .spines = 18,
                          .to_spine = 1,
                          .cores = 20,
                          .uplinks = 20,
                          .nics = 1};
constexpr Islands kAcc = {.groups = 7,
                          .racks = 5,
                          .nodes = 1120,
                          .in_rack = 32,
                          .leaves_in_rack = 2,
                          .spines = 8,
                          .to_spine = 4,
                          .cores = 20,
                          .uplinks = 20,
                          .nics = 4};

// "gs02r1b07": the second row of three racks; "as02r5b07": the fifth rack of the second island.
std::string node_name(bool gpp, std::uint32_t rack, std::uint32_t node) {
  const std::uint32_t in_row = gpp ? 3 : 5;
  return fmt::format("{}s{:02}r{}b{:02}", gpp ? 'g' : 'a', rack / in_row + 1, rack % in_row + 1, node + 1);
}

Topology build_islands(const ModuleInfo& info, const Parameters& parameters, const Islands& machine) {
  MachineBuilder builder(info, parameters);
  const std::uint32_t groups = machine_groups(parameters, machine.groups);
  const std::uint32_t in_leaf = machine.in_rack / machine.leaves_in_rack;
  for (std::uint32_t g = 0; g < groups; ++g) {
    MachineGroup group;
    for (std::uint32_t r = 0; r < machine.racks; ++r) {
      const std::uint32_t rack = g * machine.racks + r;
      if (rack * machine.in_rack >= machine.nodes) break;
      const auto first = static_cast<std::uint32_t>(group.leaves.size());
      for (std::uint32_t l = 0; l < machine.leaves_in_rack; ++l) {
        group.leaves.push_back({fmt::format("leaf {}.{}", g, first + l), rack});
      }
      for (std::uint32_t n = 0; n < machine.in_rack; ++n) {
        group.hosts.push_back({node_name(machine.nics == 1, rack, n),
                               std::vector<std::uint32_t>(machine.nics, first + n / in_leaf)});
      }
    }
    for (std::uint32_t s = 0; s < machine.spines; ++s) {
      group.spines.push_back({fmt::format("spine {}.{}", g, s), kNoRack});
    }
    builder.add_group(group, machine.to_spine);
  }
  builder.add_cores(machine.cores, machine.uplinks);
  return builder.finish();
}

constexpr const char* kSource =
    "F. Banchelli et al., Introducing MareNostrum5, 2025; BSC's MareNostrum 5 user "
    "documentation "
    "(three-level fat tree of 64-port NDR switches; 3 islands of GPP, 7 of ACC)";

std::vector<ParameterSpec> island_parameters(const char* host_link) {
  return machine_parameters(
      {.groups = "islands", .link = "400Gbps", .host_link = host_link, .switch_latency = "130ns"});
}

const ModuleInfo& gpp_info() {
  static const ModuleInfo info = {
      .name = "marenostrum5_gpp",
      .summary = "MareNostrum 5's 6,408 general-purpose nodes: fat tree of 3 islands, NDR, 100 Gb/s a node.",
      .source = kSource,
      .parameters = island_parameters("100Gbps"),
      .about =
          "Known: 6,408 nodes of which two share an NDR200 port, 72 in a rack, islands of 2,160 without "
          "oversubscription, "
          "2:3 between them. From these, with 64-port switches, assumed: a leaf a rack with 18 links up, 18 "
          "spines "
          "an island with 30 links down and 20 up, and 20 cores. Not known: the true numbers of leaves, "
          "spines and cores (324 "
          "switches are in all partitions and storage together), and the order of names (gs01r1b01 …, here "
          "rows of three "
          "racks). The last rack of the last island has no nodes.",
  };
  return info;
}

const ModuleInfo& acc_info() {
  static const ModuleInfo info = {
      .name = "marenostrum5_acc",
      .summary =
          "MareNostrum 5's 1,120 accelerated nodes: fat tree of 7 islands, NDR, four 200 Gb/s NICs a node.",
      .source = kSource,
      .parameters = island_parameters("200Gbps"),
      .about =
          "Known: 7 islands of five racks with 32 nodes (as01r1b01 to as07r5b32), four NDR200 ports a node, "
          "no "
          "oversubscription within an island, 1:2 between islands. From these, with 64-port switches, "
          "assumed: two leaves a "
          "rack with 32 links up, 8 spines an island with 40 links down and 20 up, and 20 cores. Not known: "
          "the true numbers of "
          "leaves, spines and cores, and whether a node's NICs are on one leaf, as here.",
  };
  return info;
}

}  // namespace

Family marenostrum5_gpp() {
  return {gpp_info(), [](const Parameters& p) { return build_islands(gpp_info(), p, kGpp); }};
}
Family marenostrum5_acc() {
  return {acc_info(), [](const Parameters& p) { return build_islands(acc_info(), p, kAcc); }};
}

}  // namespace weft::topologies
