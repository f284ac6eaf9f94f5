// What Slurm says of a network: topology.conf, topology.yaml, or the output of `scontrol show topology`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::topologies {

// Lines count from 1.
struct SlurmSwitch {
  std::string name;
  std::int64_t line = 0;
  std::vector<std::string> nodes;     // of `scontrol`: all below it
  std::vector<std::string> switches;  // its children
};

struct SlurmTopology {
  std::string file;  // its path, for messages
  // These are the switches of topology/tree, or the blocks of topology/block, whose nodes are theirs alone.
  std::vector<SlurmSwitch> switches;
  bool has_blocks = false;
  // topology/block says here how many nodes the blocks of each level have; empty: not said.
  std::vector<std::uint64_t> block_sizes;
  std::int64_t block_sizes_line = 0;
  std::vector<std::string> notes;  // sentences for the user: what was found and means nothing
};

// Reads topology/tree (SwitchName=, Switches=, Nodes=, LinkSpeed=) and topology/block (BlockName=, Nodes=,
// BlockSizes=) as topology.conf(5) has them, and what `scontrol show topology` prints of both. Names of keys
// are read in any case; lines may end in a backslash to go on in the next. Throws InputError at file and line
// with what was found and what was expected.
SlurmTopology read_slurm(std::string_view text, const std::string& file);

// Reads topology.yaml, as topology.yaml(5) has it: of the topologies it lists the one called `which`; "auto":
// the one with cluster_default, else the first. Throws as read_slurm() does.
SlurmTopology read_slurm_yaml(std::string_view text, const std::string& file, const std::string& which);
// Is this topology.yaml, by the file's name and what the text begins with?
bool is_slurm_yaml(std::string_view text, const std::string& file);

}  // namespace weft::topologies
