// Nodes of several accelerators as they are sold: what is inside of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/units/quantity.h"

namespace weft::topologies {

// Names agree with goal/collectives/nccl/node.h where that has the same node.
struct NodePreset {
  std::string_view name;
  std::string_view
      device;  // what computes, as goal/workload/compute names it or what is nearest; "": anything
  std::string_view summary;
  std::uint32_t accelerators = 0;
  std::uint32_t switches = 0;  // 0: linked in pairs
  std::uint32_t links = 0;     // of an accelerator: to the switches together, or to each other accelerator
  Bandwidth raw, payload;      // of a link, each direction: signalled, and what copies by kernels reach
  Time latency;                // of a link; assumed, no source has it
  std::uint32_t nics = 0;      // of a node
  Bandwidth nic, slot;         // of a NIC, and the most that its PCIe slot lets through
  std::string_view source, sure;
  std::string_view board = {};         // the name of what is sold without its chassis, which is as good
  std::string_view other_device = {};  // with which it is sold, too
  // From so many accelerators in all its library sends through other accelerators' NICs.
  std::uint32_t relays_from = 0;
};

std::span<const NodePreset> node_presets();
// By its name or its board's; null if there is none.
const NodePreset* find_node_preset(std::string_view name);
// Throws InputError with the nearest name.
const NodePreset& node_preset(std::string_view name);
// A table of them for `weft describe`, in whole lines.
std::string node_preset_table();

}  // namespace weft::topologies
