// Contiguous boxes of free points in a grid.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft::placement {

// Points are numbered with the last dimension fastest.
struct GridShape {
  std::vector<std::uint32_t> size;
  std::vector<bool> wraps;  // by dimension: its last point is next to its first
  std::uint32_t points() const;
};

struct Box {
  std::vector<std::uint32_t> first,
      size;  // by dimension; from the end a box goes on at the start if it wraps
  std::uint64_t volume() const;
};

// What a box is to be like.
struct BoxRequest {
  std::uint64_t least = 1, most = 1;                 // points
  std::optional<std::vector<std::uint32_t>> size{};  // exactly this, by dimension
};

// The box with the fewest points, then the least sum of sides, then the first in the order of sizes and
// places; none: there is none, or none was found before so many points were looked at as `steps` says (0 is
// left then). Time: at most the product of all points and of all sizes that boxes may have.
// REQUIRES: free has an entry for each point.
std::optional<Box> find_box(const GridShape& grid, std::span<const std::uint8_t> free,
                            const BoxRequest& request, std::uint64_t& steps);

// The points of a box, with the dimension named last in `order` fastest. REQUIRES: order is a permutation.
std::vector<std::uint32_t> points_of(const GridShape& grid, const Box& box,
                                     std::span<const std::uint32_t> order);

}  // namespace weft::placement
