#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {
namespace {

// Round k of p - 1 in which each block goes once around, from the rank that is `lead` places after its number
// to the one before that: the blocks that a rank sends and gets.
struct Turn {
  Turn(const CollectiveCall& call, std::uint64_t lead, std::uint64_t k) {
    const std::uint64_t p = call.size, me = call.me;
    outgoing = static_cast<std::uint32_t>((me + 2 * p - lead - k) % p);
    incoming = static_cast<std::uint32_t>((me + 2 * p - lead - k - 1) % p);
    next = call.me + 1 == call.size ? 0 : call.me + 1;
    before = call.me == 0 ? call.size - 1 : call.me - 1;
  }
  std::uint32_t outgoing, incoming;  // blocks
  std::uint32_t next, before;        // ranks
};

}  // namespace

bool reduce_scatter_ring(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index + 1 >= call.size) return false;
  // Block b starts at rank b + 1 and so ends, complete, at rank b.
  const Turn turn(call, 1, index);
  out.send(turn.next, index, rank_block(call, turn.outgoing, out));
  out.recv_combine(turn.before, index, rank_block(call, turn.incoming, out));
  return true;
}

bool allgather_ring(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index + 1 >= call.size) return false;
  const Turn turn(call, 0, index);
  out.send(turn.next, index, rank_block(call, turn.outgoing, out));
  out.recv(turn.before, index, rank_block(call, turn.incoming, out));
  return true;
}

bool allreduce_ring(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  const std::uint32_t rounds = call.size - 1;
  if (index >= 2 * rounds) return false;
  const bool reducing = index < rounds;
  const Turn turn(call, reducing ? 1 : 0, reducing ? index : index - rounds);
  const EvenBlocks blocks(call, call.size);
  out.send(turn.next, index, blocks.part(turn.outgoing));
  if (reducing) {
    out.recv_combine(turn.before, index, blocks.part(turn.incoming));
  } else {
    out.recv(turn.before, index, blocks.part(turn.incoming));
  }
  return true;
}

}  // namespace weft::goal
