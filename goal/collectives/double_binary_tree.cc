#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"
#include "goal/collectives/in_order_tree.h"

namespace weft::goal {

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
