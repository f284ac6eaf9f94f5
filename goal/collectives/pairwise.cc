// Algorithms in which a rank exchanges with one peer after the other.
#include <bit>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {
namespace {

std::uint32_t places_on(const CollectiveCall& call, std::uint32_t places) {
  const std::uint64_t rank = std::uint64_t{call.me} + places;
  return static_cast<std::uint32_t>(rank < call.size ? rank : rank - call.size);
}

}  // namespace

bool reduce_scatter_pairwise(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index + 1 >= call.size) return false;
  const std::uint32_t to = places_on(call, index + 1), from = places_on(call, call.size - 1 - index);
  out.send(to, 0, rank_block(call, to, out));
  out.recv_combine(from, 0, rank_block(call, call.me, out));
  return true;
}

bool alltoall_pairwise(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index + 1 >= call.size) return false;
  out.recv_blocks(places_on(call, call.size - 1 - index), 1, 0);
  out.send_blocks(places_on(call, index + 1), 1, 0);
  return true;
}

bool alltoall_pairwise_xor(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  if (!std::has_single_bit(call.size)) return alltoall_pairwise(call, lane, index, out);
  if (index + 1 >= call.size) return false;
  const std::uint32_t peer = call.me ^ (index + 1);
  out.recv_blocks(peer, 1, 0);
  out.send_blocks(peer, 1, 0);
  return true;
}

}  // namespace weft::goal
