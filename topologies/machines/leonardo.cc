// Leonardo, CINECA: Dragonfly+ of HDR InfiniBand.
//
// Cells 1 to 19 have six racks with 30 Booster nodes and 3 leaves; cell 20 two racks with 18 Booster nodes
// and six with 48 DCGP nodes, cells 21 and 22 eight racks with 78 DCGP nodes, on 2 leaves a rack. Which slot
// of a rack is on which of its leaves follows the same pattern everywhere.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "topologies/machines/machine.h"
#include "topologies/machines/machines.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kCells = 22, kSpines = 18;
// The leaf of each slot of a Booster rack, and those slots of a DCGP rack that are on its second leaf,
// below 48.
constexpr std::string_view kBoosterLeaf = "000000002222001122221111111122";
constexpr std::array<std::uint32_t, 8> kSecondLeaf = {26, 29, 32, 35, 36, 39, 42, 45};
constexpr std::uint32_t kSecondLeafOnly = 48;  // from this slot on

struct Rack {
  bool booster = false;
  std::uint32_t nodes = 0;
};

std::vector<Rack> racks_of(std::uint32_t cell) {
  if (cell <= 19) return std::vector<Rack>(6, {true, 30});
  if (cell > 20) return std::vector<Rack>(8, {false, 78});
  std::vector<Rack> mixed(2, {true, 18});
  mixed.insert(mixed.end(), 6, {false, 48});
  return mixed;
}

std::uint32_t leaf_of_slot(bool booster, std::uint32_t slot) {
  if (booster) return static_cast<std::uint32_t>(kBoosterLeaf[slot] - '0');
  return slot >= kSecondLeafOnly || std::ranges::count(kSecondLeaf, slot) > 0 ? 1 : 0;
}

// Row and first rack in the leaves' names: two Booster cells share a row.
std::pair<std::uint32_t, std::uint32_t> place_of(std::uint32_t cell) {
  if (cell <= 19) return {(cell + 1) / 2, cell % 2 == 1 ? 1 : 7};
  return {cell - 9, 1};
}

struct Partition {
  bool booster = true, dcgp = true;
  std::uint32_t first = 1, last = kCells;  // its cells
};

// Nodes that come before a cell's, and racks.
std::pair<std::uint32_t, std::uint32_t> before(std::uint32_t cell) {
  std::uint32_t nodes = 0, racks = 0;
  for (std::uint32_t c = 1; c < cell; ++c) {
    for (const Rack& rack : racks_of(c)) nodes += rack.nodes;
    racks += static_cast<std::uint32_t>(racks_of(c).size());
  }
  return {nodes, racks};
}

MachineGroup make_cell(std::uint32_t cell, const Partition& partition) {
  MachineGroup group;
  auto [node, rack_number] = before(cell);
  const auto [row, first] = place_of(cell);
  std::uint32_t rack_in_row = first;
  for (const Rack& rack : racks_of(cell)) {
    const bool wanted = rack.booster ? partition.booster : partition.dcgp;
    const auto leaves = static_cast<std::uint32_t>(group.leaves.size());
    for (std::uint32_t l = 0; l < (rack.booster ? 3u : 2u) && wanted; ++l) {
      group.leaves.push_back({fmt::format("isw{}{:02}{:02}", row, rack_in_row, 2 * l), rack_number});
    }
    for (std::uint32_t slot = 0; slot < rack.nodes; ++slot) {
      ++node;
      if (!wanted) continue;
      const std::uint32_t leaf = leaves + leaf_of_slot(rack.booster, slot), nics = rack.booster ? 4 : 1;
      group.hosts.push_back({fmt::format("lrdn{:04}", node), std::vector<std::uint32_t>(nics, leaf)});
    }
    ++rack_in_row;
    ++rack_number;
  }
  for (std::uint32_t s = 1; s <= kSpines; ++s) {
    group.spines.push_back({fmt::format("isw-L2-CELLG{} {}", cell, s), rack_number - 1});
  }
  return group;
}

ModuleInfo make_info(const char* name, const char* summary) {
  return {
      .name = name,
      .summary = summary,
      .source =
          "M. Turisini, G. Amati, M. Cestari, LEONARDO: a pan-European pre-exascale supercomputer for HPC "
          "and AI "
          "applications, arXiv 2307.16885, 2023; CINECA's system description; cells and leaves as `scontrol "
          "show "
          "topology` tells them",
      .parameters = machine_parameters({.groups = "cells",
                                        .links_per_pair = "18",
                                        .link = "200Gbps",
                                        .host_link = "100Gbps",
                                        .switch_latency = "130ns"}),
      .about =
          "Known: cell, leaf and name of every node; 18 spines a cell, one link from each leaf to each, 18 "
          "links "
          "between every two cells, four 100 Gb/s ports of a Booster node and one of a DCGP node. Not known: "
          "names of spines, which of them is linked to which of another cell (here the i-th to the i-th), "
          "and lengths "
          "of cables (latency is that of 10 m). Left out: the cell of login nodes and storage.",
  };
}

Topology build_partition(const ModuleInfo& info, const Parameters& parameters, const Partition& partition) {
  MachineBuilder builder(info, parameters);
  const std::uint32_t all = partition.last - partition.first + 1;
  const std::uint32_t cells = machine_groups(parameters, all);
  for (std::uint32_t c = 0; c < cells; ++c) builder.add_group(make_cell(partition.first + c, partition));
  builder.link_groups(all);
  return builder.finish();
}

const ModuleInfo& whole() {
  static const ModuleInfo info =
      make_info("leonardo", "Leonardo's 4,992 nodes, Booster and DCGP: Dragonfly+ of 22 cells, HDR.");
  return info;
}
const ModuleInfo& booster() {
  static const ModuleInfo info =
      make_info("leonardo_booster",
                "Leonardo's 3,456 Booster nodes: Dragonfly+ of 20 cells, HDR, four 100 Gb/s ports a node.");
  return info;
}
const ModuleInfo& dcgp() {
  static const ModuleInfo info =
      make_info("leonardo_dcgp", "Leonardo's 1,536 DCGP nodes: Dragonfly+ of 3 cells, HDR, 100 Gb/s a node.");
  return info;
}

}  // namespace

Family leonardo() {
  return {whole(), [](const Parameters& parameters) { return build_partition(whole(), parameters, {}); }};
}

Family leonardo_booster() {
  return {booster(), [](const Parameters& parameters) {
            return build_partition(booster(), parameters, {.dcgp = false, .last = 20});
          }};
}

Family leonardo_dcgp() {
  return {dcgp(), [](const Parameters& parameters) {
            return build_partition(dcgp(), parameters, {.booster = false, .first = 20});
          }};
}

}  // namespace weft::topologies
