// Ranks on a grid, for extrapolation.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal {

// What a dimension of a grid is. In a ring all coordinates are alike; in a rooted one all but the first,
// which does more (it writes for its row, or leads its node); on a line those that are away from its ends. A
// fixed one is as long as it is, and each of its coordinates has a part of its own (in pairs of a worker and
// its helper, the helper's is another than the worker's).
enum class Axis : std::uint8_t { kRing, kRooted, kLine, kFixed };

// A grid of up to three dimensions; the last coordinate runs fastest. `reach` is how far apart partners are
// at most, for each dimension (of no meaning in fixed ones). Without reach, nothing tells a line from a ring:
// all such dimensions are rings.
struct RankGrid {
  std::vector<std::uint32_t> dims;
  std::vector<Axis> axes;
  std::vector<std::uint32_t> reach;

  using Place = std::array<std::int64_t, 3>;
  Rank ranks() const;
  Place place(Rank rank) const;
  Rank rank(const Place& place) const;  // REQUIRES: within the grid

  // Where `to` lies, seen from `from`; false if that is out of reach.
  bool offset(Rank from, Rank to, Place& result) const;
  // The rank at an offset from `from`; kAny if the grid ends before.
  Rank neighbour(Rank from, const Place& offset) const;
  // A number that ranks have in common which lie alike: as far from the open ends, as far as reach goes.
  std::uint64_t role(Rank rank) const;
  // The coordinate, in the same dimension of `other`, that is as far from the nearest end.
  std::int64_t moved(const RankGrid& other, std::size_t dim, std::int64_t coordinate) const;
  // The rank of this grid that rank `other` of a larger or smaller grid of the same kind should do as.
  Rank model(const RankGrid& larger, Rank other) const;
  // Has a dimension with room for every role? Those without can't grow.
  bool can_grow(std::size_t dim) const;
  // Does the dimension end where it begins?
  bool wraps(std::size_t dim) const { return axes[dim] == Axis::kRing || axes[dim] == Axis::kRooted; }
  // The shortest that a dimension may be made.
  std::uint32_t least(std::size_t dim) const;
  // "4x4 grid", "8 ring", "4x3 torus", "4(ring)x3 grid", "2(fixed)x3 grid"
  std::string text() const;
};

// Every way to write `ranks` as a product of `count` factors of at least 2 (of any size for one factor).
std::vector<std::vector<std::uint32_t>> factorizations(std::uint32_t ranks, std::size_t count);

}  // namespace weft::goal
