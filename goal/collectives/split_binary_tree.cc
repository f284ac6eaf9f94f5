#include <algorithm>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"
#include "goal/collectives/trees.h"

namespace weft::goal {
namespace {

// Places counted from the root: the odd ones make one binary tree below it, the even ones the other.
struct Side {
  explicit Side(std::uint32_t place) : right(place % 2 == 0 ? 1 : 0), node((place - 1) / 2) {}
  std::uint32_t place_of(std::uint32_t of_node) const { return 2 * of_node + 1 + right; }
  std::uint32_t right;
  std::uint32_t node;  // its number in the tree
};

}  // namespace

bool bcast_split_binary_tree(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  const std::uint32_t p = call.size;
  const FromRoot rank(call);
  const std::uint32_t v = rank.place(call.me);
  const EvenBlocks halves(call, 2);
  const auto segments = [&](std::uint32_t half) {
    return Segments(halves.part(half), call.collective->element_bytes, call.options->segment_bytes);
  };
  const std::uint32_t most = std::max(segments(0).count(), segments(1).count());
  if (v == 0) {
    if (index < most) {
      out.send(rank(1), index, segments(0).part(index));
      if (p > 2) out.send(rank(2), index, segments(1).part(index));
    } else if (index == most && p % 2 == 0) {
      out.send(rank(p - 1), most, halves.part(1));  // it has no partner
    } else {
      return false;
    }
    return true;
  }
  const Side side(v);
  const Segments own = segments(side.right);
  const BinaryTree tree{side.right == 0 ? p / 2 : (p - 1) / 2};
  if (index <= most) {
    const std::uint32_t parent = side.node == 0 ? 0 : side.place_of(tree.parent(side.node));
    if (index > 0) {
      tree.children(side.node, [&](std::uint32_t child) {
        out.send(rank(side.place_of(child)), index - 1, own.part(index - 1));
      });
    }
    if (index < most) out.recv(rank(parent), index, own.part(index));
    return true;
  }
  if (index > most + 1) return false;
  // Both halves have arrived; partners exchange them.
  const std::uint32_t partner = side.right == 1 ? v - 1 : v + 1;
  if (partner < p) out.send(rank(partner), most, halves.part(side.right));
  out.recv(rank(partner < p ? partner : 0), most, halves.part(1 - side.right));
  return true;
}

}  // namespace weft::goal
