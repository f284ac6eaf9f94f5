// Next links worked out from coordinates, where a network is a grid.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/routing/table/switch_links.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// Tori, meshes, hypercubes, HyperX networks and whatever else links all parallel lines of a grid alike are
// Cartesian products: the distance of two switches is the sum of those along the dimensions, so that a link
// is on a shortest path if it is on one along its own dimension. A switch has for each dimension and
// coordinate the set of its ports that lead there; switches whose ports come in the same order share them.
class GridHops {
 public:
  // Null if the topology doesn't say that its switches are a grid (Topology::set_grid), if that is not so, or
  // if it would take more than `most_bytes`.
  static std::unique_ptr<const GridHops> make(const topologies::Topology& topology, const SwitchLinks& links,
                                              std::size_t most_bytes);

  // Writes the channels of s, whose links these are, on shortest paths to switch t. Returns how many. `to`
  // has room for all links. REQUIRES: s != t.
  std::size_t next(std::uint32_t s, std::uint32_t t, std::span<const SwitchLink> links,
                   std::uint32_t* to) const;

  std::size_t memory_bytes() const;

 private:
  class Builder;

  std::uint32_t dimensions_ = 0;
  std::uint32_t words_ = 0;                 // of a set
  std::vector<std::uint32_t> coordinates_;  // [switch][dimension]
  std::vector<std::uint32_t> rows_;         // [switch][dimension]: where its sets begin, by coordinate
  std::vector<std::uint64_t> sets_;         // masks with a bit for a port
};

}  // namespace weft::routing
