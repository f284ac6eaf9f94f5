// A network with few enough nodes and lines to be drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::report {

struct MergedNetwork {
  topologies::Topology topology;
  // These two say for each channel of the whole network which line (an edge of `topology`) it is drawn as,
  // and whether it is that line's way back. kNotDrawn: both its ends are in one node.
  std::vector<std::uint32_t> line;
  std::vector<bool> back;
  std::vector<std::uint32_t> links;  // of each line: how many links of the whole network it stands for
  bool merged = false;               // is any node more than one?
};
inline constexpr std::uint32_t kNotDrawn = 0xFFFFFFFFu;

// The network itself if it has at most so many switches, and links between them. Else switches of one tier
// and group stand as one, and then as many neighbours of one tier as must be; endpoints of one such node are
// one, too.
MergedNetwork merge(const topologies::Topology& topology, std::size_t most_switches, std::size_t most_lines);

}  // namespace weft::report
