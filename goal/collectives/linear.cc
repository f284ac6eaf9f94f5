#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {

// In the v forms the root alone may know the sizes of all; another rank then has its own as `bytes`.

bool gather_linear(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index > 0) return false;
  if (call.me == call.collective->root) {
    out.recv_blocks(0, call.me, 0);
    out.recv_blocks(call.me + 1, call.size - 1 - call.me, 0);
  } else {
    out.send(call.collective->root, 0, rank_block(call, call.me, out));
  }
  return true;
}

bool scatter_linear(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index > 0) return false;
  if (call.me == call.collective->root) {
    out.send_blocks(0, call.me, 0);
    out.send_blocks(call.me + 1, call.size - 1 - call.me, 0);
  } else {
    out.recv(call.collective->root, 0, rank_block(call, call.me, out));
  }
  return true;
}

bool alltoall_linear(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index > 0) return false;
  const std::uint32_t p = call.size, me = call.me;
  // Each rank starts with its neighbour, so that not all send to rank 0 first.
  out.recv_blocks(me == 0 ? p - 1 : me - 1, p - 1, 0, true);
  out.send_blocks(me + 1 == p ? 0 : me + 1, p - 1, 0);
  return true;
}

bool allgather_linear(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index > 0) return false;
  const std::uint32_t p = call.size, me = call.me;
  out.recv_blocks(me == 0 ? p - 1 : me - 1, p - 1, 0, true);
  out.send_each(me + 1 == p ? 0 : me + 1, p - 1, 0, rank_block(call, me, out));
  return true;
}

}  // namespace weft::goal
