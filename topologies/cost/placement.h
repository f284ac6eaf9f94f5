// Where the parts of a network stand, and how long its cables are.
#pragma once

#include <cstdint>
#include <vector>

#include "topologies/cost/price_list.h"
#include "topologies/graph/topology.h"

namespace weft::topologies {

// Racks stand in a near-square grid, filled row by row, in each site. MODEL.md tells which rack a node gets.
struct Placement {
  std::uint32_t racks = 0, columns = 0;  // of all sites; of the largest grid
  std::vector<std::uint32_t> rack;       // of each vertex
  std::vector<float> length_m;           // of each link, in the order they were added
};

// A link whose length the network knows keeps it. The others are as long as RackRules says: within_m in a
// rack; between racks the way along the rows and columns of the grid (Manhattan distance), and overhead_m.
// Between sites whose distance is unknown it is as if their grids lay on each other.
Placement place(const Topology& topology, const RackRules& rules);

}  // namespace weft::topologies
