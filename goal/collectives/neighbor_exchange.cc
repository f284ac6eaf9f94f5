#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {
namespace {

// The first of the two blocks that a rank gets in round `index`. An even rank starts with its pair's blocks;
// from then on those come in from either side, two further away each time.
std::uint32_t received(const CollectiveCall& call, std::uint32_t index) {
  const std::uint64_t p = call.size, pair = call.me & ~1u, way = 2 * ((std::uint64_t{index} + 1) / 2);
  const bool up = (index % 2 == 0) == (call.me % 2 == 0);
  return static_cast<std::uint32_t>((up ? pair + way : pair + p - way) % p);
}

}  // namespace

bool allgather_neighbor_exchange(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index,
                                 Group& out) {
  if (call.size % 2 != 0) return allgather_ring(call, lane, index, out);
  if (index >= call.size / 2) return false;
  const bool up = (index % 2 == 0) == (call.me % 2 == 0);
  const std::uint32_t next = call.me + 1 == call.size ? 0 : call.me + 1;
  const std::uint32_t before = call.me == 0 ? call.size - 1 : call.me - 1;
  const std::uint32_t peer = up ? next : before;
  if (index == 0) {
    out.send(peer, 0, rank_block(call, call.me, out));
    out.recv(peer, 0, rank_block(call, peer, out));
  } else {
    out.send(peer, index, rank_blocks(call, received(call, index - 1), 2, out));
    out.recv(peer, index, rank_blocks(call, received(call, index), 2, out));
  }
  return true;
}

}  // namespace weft::goal
