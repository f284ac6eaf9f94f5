#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {

bool barrier_linear(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index > 1) return false;
  if (call.me != 0) {
    if (index == 0) out.signal(0, 0);
    if (index == 0) out.await(0, 1);
  } else if (index == 0) {
    out.await_each(1, call.size - 1, 0);
  } else {
    out.signal_each(1, call.size - 1, 1);
  }
  return true;
}

bool bcast_linear(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index > 0) return false;
  const Part all = {0, call.collective->bytes};
  if (call.me == call.collective->root) {
    out.send_each(call.me + 1 == call.size ? 0 : call.me + 1, call.size - 1, 0, all);
  } else {
    out.recv(call.collective->root, 0, all);
  }
  return true;
}

bool reduce_linear(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index > 0) return false;
  const Part all = {0, call.collective->bytes};
  if (call.me == call.collective->root) {
    out.recv_combine_each(call.me + 1 == call.size ? 0 : call.me + 1, call.size - 1, 0, all);
  } else {
    out.send(call.collective->root, 0, all);
  }
  return true;
}

bool scan_linear(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index > 1) return false;
  const Part all = {0, call.collective->bytes};
  if (index == 0 && call.me > 0) out.recv_combine(call.me - 1, 0, all);
  if (index == 1 && call.me + 1 < call.size) out.send(call.me + 1, 0, all);
  return true;
}

bool exscan_linear(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index > 1) return false;
  const Part all = {0, call.collective->bytes};
  const bool last = call.me + 1 == call.size;
  // What comes in is the result; only what goes on is combined with the rank's own.
  if (index == 0 && call.me > 0) out.recv_combine(call.me - 1, 0, all, last ? 0 : 1);
  if (index == 1 && !last) out.send(call.me + 1, 0, all);
  return true;
}

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
