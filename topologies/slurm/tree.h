// A tree of switches as Slurm lists them, resolved: who is below whom, and which hosts hang where.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "topologies/slurm/configuration.h"

namespace weft::topologies {

struct TreeSwitch {
  std::string name;
  std::vector<std::uint32_t> hosts;     // that hang on it, ascending
  std::vector<std::uint32_t> children;  // places in SlurmTree::switches
  std::vector<std::uint32_t> parents;
  std::uint8_t tier = 1;  // 1 without children, else one more than the highest child
  std::uint32_t group =
      0;  // the tree below the top it is in, by number; of a top with children: one of its own
};

struct SlurmTree {
  std::vector<std::string> hosts;    // by name, numbers in names as numbers
  std::vector<TreeSwitch> switches;  // each after its children
  std::vector<std::uint32_t> tops;   // those without parents
  std::uint32_t several_leaves = 0;  // hosts that hang on several switches
  std::uint32_t empty_switches = 0;  // left out, as no host is below them
};

// Those nodes for which `wanted` holds, and the switches above them. A node that a switch and one below it
// list hangs on the one below. Blocks become switches, those of each further size in `block_sizes` are joined
// by one of the next level, and what is left by "top". Throws InputError at file and line for names listed
// twice or missing, for switches in a circle, and sizes that can't be those of blocks.
SlurmTree resolve_tree(const SlurmTopology& read, const std::function<bool(const std::string&)>& wanted);

}  // namespace weft::topologies
