#include "goal/collectives/algorithms.h"

namespace weft::goal {
namespace {

// The tree over ranks counted from the root: the parent of v is v without its lowest set bit, its children
// are v + b for each b below that bit (below p for the root). The round of an edge is the position of that
// bit.
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

void bcast_binomial_tree(const CollectiveCall& call, Schedule& schedule) {
  const std::uint64_t bytes = call.collective->bytes;
  if (bytes == 0 || call.size < 2) return;
  const Tree tree(call);
  const std::uint32_t received = tree.v == 0 ? 0 : schedule.recv(tree.parent(), bytes, tree.bits);
  // The largest subtree first: it has the longest way to go.
  for (std::uint32_t bit = tree.bits; bit-- > 0;) {
    if (!tree.has_child(bit)) continue;
    const std::uint32_t sent = schedule.send(tree.child(bit), bytes, bit);
    if (tree.v != 0) schedule.depend(sent, received);
  }
}

void reduce_binomial_tree(const CollectiveCall& call, Schedule& schedule) {
  const std::uint64_t bytes = call.collective->bytes;
  if (bytes == 0 || call.size < 2) return;
  const Tree tree(call);
  bool combined = false;
  std::uint32_t last = 0;
  // The smallest subtree first: it is ready first. One accumulator, so the reductions follow each other.
  for (std::uint32_t bit = 0; bit < tree.bits; ++bit) {
    if (!tree.has_child(bit)) continue;
    const std::uint32_t received = schedule.recv(tree.child(bit), bytes, bit);
    const std::uint32_t reduced = schedule.reduce(bytes);
    schedule.depend(reduced, received);
    if (combined) schedule.depend(reduced, last);
    combined = true;
    last = reduced;
  }
  if (tree.v == 0) return;
  const std::uint32_t sent = schedule.send(tree.parent(), bytes, tree.bits);
  if (combined) schedule.depend(sent, last);
}

}  // namespace weft::goal
