#include <bit>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {
namespace {

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
std::uint32_t second_tree(std::uint32_t size, std::uint32_t from, bool to_rank) {
  if (size % 2 == 0) return size - 1 - from;
  return (from + (to_rank ? 1 : size - 1)) % size;
}

}  // namespace

std::uint32_t double_binary_tree_lanes(const CollectiveCall&) { return 2; }

// Each lane is one tree with half of the vector. Its segments are combined upwards and passed down in one
// pipeline: a rank at depth d gets segment s from its children in group s, and the result from its parent in
// group s + 2d, when it has gone up to the root and back; either is sent on in the group after. (All of them
// being in step, group g at depth d takes place when group g + 1 does one level further down.)
bool allreduce_double_binary_tree(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index,
                                  Group& out) {
  const std::uint32_t p = call.size;
  const auto rank = [&](std::uint32_t place) { return lane == 0 ? place : second_tree(p, place, true); };
  const InOrderTree tree{p};
  const std::uint32_t v = lane == 0 ? call.me : second_tree(p, call.me, false);
  const Segments segments(EvenBlocks(call, 2).part(lane), call.collective->element_bytes,
                          call.options->segment_bytes);
  const std::uint32_t count = segments.count(), back = 2 * tree.depth(v);
  if (index > back + count) return false;
  const auto tag = [&](std::uint32_t segment, bool down) { return 4 * segment + 2 * (down ? 1 : 0) + lane; };
  if (v != 0 && index > 0 && index <= count) {
    out.send(rank(tree.parent(v)), tag(index - 1, false), segments.part(index - 1));
  }
  if (index > back) {
    const std::uint32_t segment = index - back - 1;
    tree.children(
        v, [&](std::uint32_t child) { out.send(rank(child), tag(segment, true), segments.part(segment)); });
  }
  if (v != 0 && index >= back && index < back + count) {
    out.recv(rank(tree.parent(v)), tag(index - back, true), segments.part(index - back));
  }
  if (index < count) {
    tree.children(v, [&](std::uint32_t child) {
      out.recv_combine(rank(child), tag(index, false), segments.part(index));
    });
  }
  return true;
}

}  // namespace weft::goal
