// Allreduce, reduce-scatter and allgather around the rings of the channels. A lane is one slice of one
// channel: the slices of a chunk follow each other around the ring on their own.
#include <algorithm>

#include "goal/collectives/blocks.h"
#include "goal/collectives/nccl/algorithms.h"
#include "goal/collectives/nccl/coarse.h"
#include "goal/collectives/nccl/places.h"
#include "goal/collectives/nccl/work.h"

namespace weft::goal::nccl {
namespace {

// A rank's place on the ring of a lane.
struct Ring {
  Ring(const CollectiveCall& call, std::uint32_t lane)
      : channel(lane / ring_slices(call)),
        slice(lane % ring_slices(call)),
        n(call.size),
        order(call, channel),
        me(order.position(call.place())),
        next(order.rank_at((me + 1) % n)),
        before(order.rank_at((me + n - 1) % n)) {}
  // The position `back` places before, modulo the ring.
  std::uint32_t minus(std::uint32_t back) const { return (me + n - back % n) % n; }

  std::uint32_t channel, slice, n;
  NodeOrder order;
  std::uint32_t me, next, before;
};

std::uint32_t message_tag(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index) {
  return index * ring_lanes(call) + lane;
}

// A share of what is left, made up to what NCCL rounds to.
std::uint64_t last_chunk(const CollectiveCall& call, std::uint64_t bytes) {
  const std::uint64_t element = call.collective->element_bytes;
  if (call.options->chunk_grain_bytes == 0 || call.options->format == WireFormat::kPlain) {
    return aligned(bytes, element);
  }
  const std::uint64_t grain = aligned(call.options->chunk_grain_bytes, element);
  return (bytes + grain - 1) / grain * grain;
}

// The chunk of one rank in one turn of an allreduce: turns go over as many bytes as all ranks' chunks
// together; the last has shorter ones.
Part chunk_of_turn(const CollectiveCall& call, Part share, std::uint64_t chunk, std::uint64_t turn,
                   std::uint32_t position) {
  const std::uint64_t each_turn = chunk * call.size, done = turn * each_turn;
  const std::uint64_t left = share.count - done;
  if (left < each_turn) {
    chunk = std::min(chunk, last_chunk(call, (left + call.size - 1) / call.size));
  }
  const std::uint64_t from = std::min(chunk * position, left);
  return {share.begin + done + from, std::min(chunk, left - from)};
}

// Before NCCL 2.20 chunks of LL and LL128 had at least so many bytes, and channels took them in turns.
struct InTurns {
  explicit InTurns(const CollectiveCall& call)
      : bytes(call.collective->bytes),
        channels(call.options->channels),
        ranks(call.size),
        least(aligned(call.options->least_chunk_bytes, call.collective->element_bytes)),
        most(std::max(chunk_bytes(Shape::kRing, call), least)) {}
  std::uint64_t turns() const {
    const std::uint64_t each_turn = most * ranks * channels;
    return (bytes + each_turn - 1) / each_turn;
  }
  Part chunk(std::uint64_t turn, std::uint32_t position, std::uint32_t channel) const {
    const std::uint64_t done = turn * most * ranks * channels, left = bytes - done;
    const std::uint64_t round = least * ranks * channels;
    const std::uint64_t each = std::min(most, (left + round - 1) / round * least);
    const std::uint64_t from = std::min(each * (std::uint64_t{position} * channels + channel), left);
    return {done + from, std::min(each, left - from)};
  }
  std::uint64_t bytes, channels, ranks, least, most;
};

// Bytes of the largest block.
std::uint64_t most_of_blocks(const CollectiveCall& call) {
  const auto& counts = call.collective->counts;
  return counts.empty() ? call.collective->bytes : *std::max_element(counts.begin(), counts.end());
}

// Rounds of an allgather or reduce_scatter: for each chunk of the blocks once around the ring. In round k of
// them a rank sends the block of the position `first + k` places before, and gets the one before that.
bool around(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, std::uint32_t first,
            bool combine, Group& out) {
  if (call.options->coarse_rounds > 0) return coarse_ring(call, lane, index, out);
  const Ring ring(call, lane);
  const std::uint64_t chunk = chunk_bytes(Shape::kRing, call);
  const std::uint64_t most = ChannelShares({0, most_of_blocks(call)}, call, call.size).most_bytes();
  const std::uint32_t rounds = call.size - 1, k = index % rounds;
  const std::uint64_t turn = index / rounds;
  if (turn >= (most + chunk - 1) / chunk) return false;
  const auto part = [&](std::uint32_t position) {
    const Part block = rank_block(call, call.rank_at(ring.order.rank_at(position)), out);
    const Part share = ChannelShares(block, call, call.size).part(ring.channel);
    const std::uint64_t done = std::min(turn * chunk, share.count);
    return slice_of({share.begin + done, std::min(chunk, share.count - done)}, ring.slice, call);
  };
  const std::uint32_t tag = message_tag(call, lane, index);
  out.send(ring.next, tag, part(ring.minus(first + k)));
  const Part incoming = part(ring.minus(first + k + 1));
  if (combine) {
    out.recv_combine(ring.before, tag, incoming);
  } else {
    out.recv(ring.before, tag, incoming);
  }
  out.in_format(call.options->format);
  return true;
}

}  // namespace

std::uint32_t ring_lanes(const CollectiveCall& call) { return call.options->channels * ring_slices(call); }

bool allreduce_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  if (call.options->coarse_rounds > 0) return coarse_ring(call, lane, index, out);
  const Ring ring(call, lane);
  const bool in_turns = call.options->least_chunk_bytes > 0 && call.options->format != WireFormat::kPlain;
  const std::uint32_t rounds = 2 * (call.size - 1), k = index % rounds;
  const std::uint64_t turn = index / rounds;
  const Part share = ChannelShares({0, call.collective->bytes}, call, 2).part(ring.channel);
  const std::uint64_t chunk = chunk_bytes(Shape::kRing, call), each_turn = chunk * call.size;
  if (turn >= (in_turns ? InTurns(call).turns() : (share.count + each_turn - 1) / each_turn)) return false;
  const auto part = [&](std::uint32_t position) {
    if (in_turns) return InTurns(call).chunk(turn, position, ring.channel);
    return slice_of(chunk_of_turn(call, share, chunk, turn, position), ring.slice, call);
  };
  const std::uint32_t tag = message_tag(call, lane, index), half = call.size - 1;
  // First once around to add up, which ends with a rank's own chunk, then once more to hand it on.
  const std::uint32_t back = k < half ? k + 1 : k - half;
  out.send(ring.next, tag, part(ring.minus(back)));
  if (k < half) {
    out.recv_combine(ring.before, tag, part(ring.minus(back + 1)));
  } else {
    out.recv(ring.before, tag, part(ring.minus(back + 1)));
  }
  out.in_format(call.options->format);
  return true;
}

bool reduce_scatter_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  return around(call, lane, index, 1, true, out);
}

bool allgather_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  return around(call, lane, index, 0, false, out);
}

}  // namespace weft::goal::nccl
