// The two trees of double binary trees.
#pragma once

#include <bit>
#include <cstdint>

namespace weft::goal {

// A binary tree in which odd places are leaves: place 0 is the root and has one child; the children of v are
// half its lowest set bit away on both sides.
struct InOrderTree {
  std::uint32_t size;
  std::uint32_t parent(std::uint32_t v) const {
    const std::uint32_t bit = v & (0 - v);
    const std::uint64_t up = (v ^ bit) | std::uint64_t{bit} << 1;
    return up < size ? static_cast<std::uint32_t>(up) : v ^ bit;
  }
  std::uint32_t depth(std::uint32_t v) const {
    std::uint32_t depth = 0;
    for (; v != 0; v = parent(v)) ++depth;
    return depth;
  }
  template <typename Visit>
  void children(std::uint32_t v, Visit visit) const {
    if (v == 0) return visit(std::bit_floor(size - 1));
    std::uint32_t half = (v & (0 - v)) / 2;
    if (half > 0) visit(v - half);
    while (half > 0 && half >= size - v) half /= 2;
    if (half > 0) visit(v + half);
  }
};

// Who has which place in the second tree, so that the leaves of one are inner ranks of the other: the mirror
// image, or for odd numbers of ranks one place on.
inline std::uint32_t second_tree(std::uint32_t size, std::uint32_t from, bool to_rank) {
  if (size % 2 == 0) return size - 1 - from;
  return (from + (to_rank ? 1 : size - 1)) % size;
}

}  // namespace weft::goal
