// Gather and scatter over a binomial tree. A message holds the blocks of a whole subtree.
#include <algorithm>
#include <bit>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {
namespace {

// Ranks counted from the root: the parent of v is v without its lowest set bit. The subtree of v has the
// ranks from v on that many as this bit says, as far as there are any.
struct Subtree {
  explicit Subtree(const CollectiveCall& call)
      : p(call.size),
        root(call.collective->root),
        v(call.me >= root ? call.me - root : call.me + p - root),
        width(v == 0 ? std::bit_ceil(std::uint64_t{p}) : v & (0 - v)) {}
  std::uint32_t rank(std::uint32_t from_root) const {
    const std::uint64_t rank = std::uint64_t{from_root} + root;
    return static_cast<std::uint32_t>(rank < p ? rank : rank - p);
  }
  std::uint32_t parent() const { return rank(v & (v - 1)); }
  Part blocks(const CollectiveCall& call, std::uint32_t from_root, std::uint64_t most,
              const Group& out) const {
    return rank_blocks(call, rank(from_root),
                       static_cast<std::uint32_t>(std::min<std::uint64_t>(most, p - from_root)), out);
  }

  std::uint32_t p, root, v;
  std::uint64_t width;
};

// Who passes blocks on must know their sizes, so the v forms go the direct way, as in MPI libraries.
bool is_direct(const CollectiveCall& call) { return call.collective->of_v_form(); }

}  // namespace

bool gather_binomial_tree(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  if (is_direct(call)) return gather_linear(call, lane, index, out);
  const Subtree tree(call);
  if (index == 0) {
    // The smallest subtree first: it is ready first.
    for (std::uint64_t bit = 1; bit < tree.width && tree.v + bit < tree.p; bit *= 2) {
      const auto child = static_cast<std::uint32_t>(tree.v + bit);
      out.recv(tree.rank(child), 0, tree.blocks(call, child, bit, out));
    }
    return true;
  }
  if (index > 1 || tree.v == 0) return false;
  out.send(tree.parent(), 0, tree.blocks(call, tree.v, tree.width, out));
  return true;
}

bool scatter_binomial_tree(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  if (is_direct(call)) return scatter_linear(call, lane, index, out);
  const Subtree tree(call);
  if (tree.v != 0) {
    if (index == 0) {
      out.recv(tree.parent(), 0, tree.blocks(call, tree.v, tree.width, out));
      return true;
    }
    --index;
  }
  if (index > 0) return false;
  // The largest subtree first: it has the longest way to go.
  for (std::uint64_t bit = tree.width / 2; bit > 0; bit /= 2) {
    if (tree.v + bit >= tree.p) continue;
    const auto child = static_cast<std::uint32_t>(tree.v + bit);
    out.send(tree.rank(child), 0, tree.blocks(call, child, bit, out));
  }
  out.in_turn();
  return true;
}

}  // namespace weft::goal
