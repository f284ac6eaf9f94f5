// Ranks on a grid, for extrapolation.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal {

// A grid of up to three dimensions, each open or closed to a ring; the last coordinate runs fastest. `reach`
// is how far apart partners are at most, in each dimension.
struct RankGrid {
  std::vector<std::uint32_t> dims;
  std::vector<bool> periodic;
  std::uint32_t reach = 0;

  using Place = std::array<std::int64_t, 3>;
  Place place(Rank rank) const;
  Rank rank(const Place& place) const;  // REQUIRES: within the grid

  // Where `to` lies, seen from `from`; false if that is out of reach.
  bool offset(Rank from, Rank to, Place& result) const;
  // The rank at an offset from `from`; kAny if the grid ends before.
  Rank neighbour(Rank from, const Place& offset) const;
  // A number that ranks have in common which lie alike: as far from the open ends, as far as reach goes.
  std::uint32_t role(Rank rank) const;
  // The rank of this grid that rank `other` of a larger or smaller grid of the same kind should do as.
  Rank model(const RankGrid& larger, Rank other) const;
  // Has a dimension with room for every role? Those without can't grow.
  bool can_grow(std::size_t dim) const { return dims[dim] >= 2 * reach + 1; }
  std::string text() const;  // "4x4 grid", "8 ring", "4x3 torus", "4(ring)x3 grid"
};

// Every way to write `ranks` as a product of `count` factors of at least 2 (of any size for one factor).
std::vector<std::vector<std::uint32_t>> factorizations(std::uint32_t ranks, std::size_t count);

}  // namespace weft::goal
