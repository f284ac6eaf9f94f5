#include "goal/collectives/algorithms.h"

namespace weft::goal {
namespace {

// The tree over ranks counted from the root: the parent of v is v without its lowest set bit, its children
// are v + b for each b below that bit (below p for the root). The tag of an edge is the position of that bit.
struct Tree {
  explicit Tree(const CollectiveCall& call)
      : p(call.size), root(call.collective->root), v((call.me + p - root) % p) {
    while (bits < 32 && (std::uint64_t{1} << bits) < p && (v >> bits & 1) == 0) ++bits;
  }
  std::uint32_t rank(std::uint32_t from_root) const {
    return static_cast<std::uint32_t>((std::uint64_t{from_root} + root) % p);
  }
  bool has_child(std::uint32_t bit) const { return std::uint64_t{v} + (std::uint64_t{1} << bit) < p; }
  std::uint32_t child(std::uint32_t bit) const { return rank(v + (1u << bit)); }
  std::uint32_t parent() const { return rank(v - (1u << bits)); }

  std::uint32_t p, root, v;
  std::uint32_t bits = 0;  // children use bits 0 … bits-1; the edge to the parent is bit `bits`
};

}  // namespace

bool bcast_binomial_tree(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  const Part all = {0, call.collective->bytes};
  const Tree tree(call);
  if (tree.v != 0) {
    if (index == 0) out.recv(tree.parent(), tree.bits, all);
    if (index == 0) return true;
    --index;
  }
  if (index > 0) return false;
  // The largest subtree first: it has the longest way to go.
  for (std::uint32_t bit = tree.bits; bit-- > 0;) {
    if (tree.has_child(bit)) out.send(tree.child(bit), bit, all);
  }
  return true;
}

bool reduce_binomial_tree(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  const Part all = {0, call.collective->bytes};
  const Tree tree(call);
  if (index == 0) {
    // The smallest subtree first: it is ready first.
    for (std::uint32_t bit = 0; bit < tree.bits; ++bit) {
      if (tree.has_child(bit)) out.recv_combine(tree.child(bit), bit, all);
    }
    return true;
  }
  if (index > 1 || tree.v == 0) return false;
  out.send(tree.parent(), tree.bits, all);
  return true;
}

}  // namespace weft::goal
