#include <algorithm>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/allgather_phases.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {

bool reduce_scatter_ring(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index + 1 >= call.size) return false;
  // Block b starts at rank b + 1 and so ends, complete, at rank b.
  const RingRound round(call.size, call.me, 1, index);
  // What a rank gave stays as it is: it adds up in a copy.
  if (index == 0) out.copy(rank_blocks(call, 0, call.size, out).count);
  out.send(round.next, index, rank_block(call, round.outgoing, out));
  out.recv_combine(round.before, index, rank_block(call, round.incoming, out));
  return true;
}

bool allgather_ring(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index + 1 >= call.size) return false;
  const RingRound round(call.size, call.me, 0, index);
  out.send(round.next, index, rank_block(call, round.outgoing, out));
  out.recv(round.before, index, rank_block(call, round.incoming, out));
  return true;
}

namespace {

// A reduce-scatter of one segment of each block after the other, then an allgather of whole blocks.
bool allreduce(const CollectiveCall& call, std::uint64_t segment_bytes, std::uint32_t index, Group& out) {
  const std::uint32_t rounds = call.size - 1;
  const EvenBlocks blocks(call, call.size);
  const auto segments = [&](std::uint32_t block) {
    return Segments(blocks.part(block), call.collective->element_bytes, segment_bytes);
  };
  // The first block is the longest, but for bytes that make no whole element.
  const std::uint32_t turns = std::max(segments(0).count(), segments(rounds).count());
  const std::uint32_t k = index % rounds, turn = index / rounds;
  if (turn > turns) return false;
  if (turn < turns) {
    const RingRound round(call.size, call.me, 1, k);
    const auto segment = [&](std::uint32_t block) { return segments(block).part(turn); };
    out.send(round.next, index, segment(round.outgoing));
    out.recv_combine(round.before, index, segment(round.incoming));
  } else {
    const RingRound round(call.size, call.me, 0, k);
    out.send(round.next, index, blocks.part(round.outgoing));
    out.recv(round.before, index, blocks.part(round.incoming));
  }
  return true;
}

}  // namespace

bool allreduce_ring(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return allreduce(call, 0, index, out);
}

bool allreduce_segmented_ring(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return allreduce(call, call.options->segment_bytes, index, out);
}

}  // namespace weft::goal
