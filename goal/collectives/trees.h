// Trees over the ranks 0 … size - 1 with root 0, and the pipelines that run on them. (Algorithms with another
// root count ranks from it.)
#pragma once

#include <cstdint>

#include "goal/collectives/blocks.h"
#include "goal/collectives/steps.h"

namespace weft::goal {

// Each rank passes on to the next.
struct Chain {
  std::uint32_t size;
  std::uint32_t parent(std::uint32_t v) const { return v - 1; }
  template <typename Visit>
  void children(std::uint32_t v, Visit visit) const {
    if (v + 1 < size) visit(v + 1);
  }
  template <typename Visit>
  void children_backwards(std::uint32_t v, Visit visit) const {
    children(v, visit);
  }
};

// Filled level by level.
struct BinaryTree {
  std::uint32_t size;
  std::uint32_t parent(std::uint32_t v) const { return (v - 1) / 2; }
  template <typename Visit>
  void children(std::uint32_t v, Visit visit) const {
    for (std::uint64_t child = 2 * std::uint64_t{v} + 1; child <= 2 * std::uint64_t{v} + 2; ++child) {
      if (child < size) visit(static_cast<std::uint32_t>(child));
    }
  }
  template <typename Visit>
  void children_backwards(std::uint32_t v, Visit visit) const {
    for (std::uint64_t child = 2 * std::uint64_t{v} + 2; child > 2 * std::uint64_t{v}; --child) {
      if (child < size) visit(static_cast<std::uint32_t>(child));
    }
  }
};

// k-nomial: the parent of v is v with its lowest digit that is not zero (to base `radix`) made zero; radix 2
// is the binomial tree. Children: largest subtree first, so that the longest way begins first.
struct NomialTree {
  std::uint32_t size;
  std::uint32_t radix = 2;

  // Value of the place of that digit; of the root: the first that no rank has.
  std::uint64_t top(std::uint32_t v) const {
    std::uint64_t place = 1;
    while (place < size && v / place % radix == 0) place *= radix;
    return place;
  }
  std::uint32_t parent(std::uint32_t v) const {
    const std::uint64_t place = top(v);
    return static_cast<std::uint32_t>(v - v / place % radix * place);
  }
  template <typename Visit>
  void children(std::uint32_t v, Visit visit) const {
    for (std::uint64_t place = top(v) / radix; place > 0; place /= radix) level(v, place, visit);
  }
  template <typename Visit>
  void children_backwards(std::uint32_t v, Visit visit) const {
    for (std::uint64_t place = 1; place < top(v); place *= radix) level(v, place, visit);
  }

 private:
  template <typename Visit>
  void level(std::uint32_t v, std::uint64_t place, Visit visit) const {
    for (std::uint32_t digit = 1; digit < radix && v + digit * place < size; ++digit) {
      visit(static_cast<std::uint32_t>(v + digit * place));
    }
  }
};

// Ranks counted from the root of the call.
struct FromRoot {
  explicit FromRoot(const CollectiveCall& call) : size(call.size), root(call.collective->root) {}
  std::uint32_t place(std::uint32_t rank) const { return rank >= root ? rank - root : rank + size - root; }
  std::uint32_t operator()(std::uint32_t place) const {
    const std::uint64_t rank = std::uint64_t{place} + root;
    return static_cast<std::uint32_t>(rank < size ? rank : rank - size);
  }
  std::uint32_t size, root;
};

// Segments go down the tree one after the other: a rank gets one while it sends the one before on. A vector
// in one piece goes to one child after the other, by blocking sends as in MPICH and Open MPI: the first has
// the longest way. In a pipeline all children are as urgent. `rank(v)` is the rank of the communicator at
// place v; tags from `tag` on, one per segment. False past the last group; there are tree_groups().
template <typename Tree, typename RankAt>
bool pass_down(const Tree& tree, std::uint32_t v, RankAt rank, const Segments& segments, std::uint32_t index,
               std::uint32_t tag, Group& out) {
  const std::uint32_t count = segments.count();
  const std::uint32_t ahead = v == 0 ? 0 : 1;  // groups by which the receives lead
  if (index >= count + ahead) return false;
  if (index >= ahead) {
    const std::uint32_t segment = index - ahead;
    tree.children(v,
                  [&](std::uint32_t child) { out.send(rank(child), tag + segment, segments.part(segment)); });
    if (count == 1 && out.steps().size() > 1) out.in_turn();
  }
  // After the sends: who has a segment passes it on before taking in the next.
  if (v != 0 && index < count) out.recv(rank(tree.parent(v)), tag + index, segments.part(index));
  return true;
}

// Segments are combined up the tree: a rank gets one from each child while it sends the one before to its
// parent.
template <typename Tree, typename RankAt>
bool combine_up(const Tree& tree, std::uint32_t v, RankAt rank, const Segments& segments, std::uint32_t index,
                std::uint32_t tag, Group& out) {
  const std::uint32_t count = segments.count();
  if (index >= count + (v == 0 ? 0 : 1)) return false;
  if (v != 0 && index > 0) out.send(rank(tree.parent(v)), tag + index - 1, segments.part(index - 1));
  if (index < count) {
    // The smallest subtree first: it is ready first.
    tree.children_backwards(
        v, [&](std::uint32_t child) { out.recv_combine(rank(child), tag + index, segments.part(index)); });
  }
  return true;
}

// Groups of either at place v.
inline std::uint32_t tree_groups(std::uint32_t v, const Segments& segments) {
  return segments.count() + (v == 0 ? 0 : 1);
}

}  // namespace weft::goal
