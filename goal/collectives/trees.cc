// Barrier, bcast, reduce and allreduce over trees and chains.
#include "goal/collectives/trees.h"

#include "goal/collectives/algorithms.h"

namespace weft::goal {
namespace {

template <typename Tree>
bool bcast(const Tree& tree, const CollectiveCall& call, std::uint32_t index, Group& out) {
  const FromRoot rank(call);
  return pass_down(tree, rank.place(call.me), rank, Segments(call), index, 0, out);
}

template <typename Tree>
bool reduce(const Tree& tree, const CollectiveCall& call, std::uint32_t index, Group& out) {
  const FromRoot rank(call);
  return combine_up(tree, rank.place(call.me), rank, Segments(call), index, 0, out);
}

}  // namespace

bool barrier_binomial_tree(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  const NomialTree tree{call.size};
  const std::uint32_t me = call.me;
  if (index > 2) return false;
  if (index == 0) tree.children_backwards(me, [&](std::uint32_t child) { out.await(child, 0); });
  if (index == 1 && me != 0) {
    out.signal(tree.parent(me), 0);
    out.await(tree.parent(me), 1);
  }
  if (index == 2) tree.children(me, [&](std::uint32_t child) { out.signal(child, 1); });
  return true;
}

bool bcast_binomial_tree(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return bcast(NomialTree{call.size}, call, index, out);
}
bool bcast_knomial_tree(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return bcast(NomialTree{call.size, call.options->radix}, call, index, out);
}
bool bcast_binary_tree(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return bcast(BinaryTree{call.size}, call, index, out);
}
bool bcast_pipelined_chain(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return bcast(Chain{call.size}, call, index, out);
}

bool reduce_binomial_tree(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return reduce(NomialTree{call.size}, call, index, out);
}
bool reduce_knomial_tree(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return reduce(NomialTree{call.size, call.options->radix}, call, index, out);
}
bool reduce_binary_tree(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return reduce(BinaryTree{call.size}, call, index, out);
}
bool reduce_pipelined_chain(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return reduce(Chain{call.size}, call, index, out);
}

bool allreduce_reduce_bcast(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  const NomialTree tree{call.size};
  const Segments segments(call);
  const auto rank = [](std::uint32_t place) { return place; };
  const std::uint32_t up = tree_groups(call.me, segments);
  if (index < up) return combine_up(tree, call.me, rank, segments, index, 0, out);
  return pass_down(tree, call.me, rank, segments, index - up, 0, out);
}

}  // namespace weft::goal
