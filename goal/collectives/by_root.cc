// Algorithms that gather or reduce at rank 0 and hand the result on from there.
#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {
namespace {

constexpr std::uint32_t kRootTag = 32;  // the trees use tags below

// The vector of all blocks, as a bcast or reduce at rank 0 sees it.
Collective whole_vector(const CollectiveCall& call, CollectiveKind kind, const Group& out) {
  Collective whole;
  whole.kind = kind;
  whole.bytes = rank_blocks(call, 0, call.size, out).count;
  whole.element_bytes = call.collective->element_bytes;
  return whole;
}

}  // namespace

bool allgather_gather_bcast(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  if (index == 0) {
    if (call.me == 0) {
      out.recv_blocks(1, call.size - 1, kRootTag);
    } else {
      out.send(0, kRootTag, rank_block(call, call.me, out));
    }
    return true;
  }
  const Collective whole = whole_vector(call, CollectiveKind::kBcast, out);
  return bcast_binomial_tree({&whole, call.size, call.me, call.options}, lane, index - 1, out);
}

bool reduce_scatter_reduce_then_scatter(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index,
                                        Group& out) {
  const Collective whole = whole_vector(call, CollectiveKind::kReduce, out);
  if (reduce_binomial_tree({&whole, call.size, call.me, call.options}, lane, index, out)) return true;
  const std::uint32_t reduced = call.me == 0 ? 1 : 2;
  if (index > reduced) return false;
  if (call.me == 0) {
    out.send_blocks(1, call.size - 1, kRootTag);
  } else {
    out.recv(0, kRootTag, rank_block(call, call.me, out));
  }
  return true;
}

}  // namespace weft::goal
