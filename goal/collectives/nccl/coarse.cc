#include "goal/collectives/nccl/coarse.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "goal/collectives/nccl/places.h"
#include "goal/collectives/nccl/work.h"

namespace weft::goal::nccl {
namespace {

std::uint32_t signal_rounds(std::uint32_t ranks) {
  return static_cast<std::uint32_t>(std::bit_width(ranks - 1));
}

bool has_both_halves(const CollectiveCall& call) {
  return call.collective->kind == CollectiveKind::kAllreduce;
}

// What a channel has for each round around the ring, and how often it goes around.
struct Rounds {
  Rounds(const CollectiveCall& call, std::uint32_t channel) {
    const bool both = has_both_halves(call);
    const ChannelShares shares({0, call.collective->bytes}, call, both ? 2 : call.size);
    share = shares.part(channel).count;
    const std::uint64_t of_rank = both ? (share + call.size - 1) / call.size : share;
    chunk = std::min(chunk_bytes(Shape::kRing, call), std::max<std::uint64_t>(of_rank, 1));
    const double turns = std::ceil(static_cast<double>(of_rank) / static_cast<double>(chunk));
    rounds = std::max(1.0, turns) * (call.size - 1) * (both ? 2 : 1);
  }
  std::uint64_t share, chunk;
  double rounds;
};

// What a lane hands on in all: of the channel's bytes the part that such a slice has of a chunk.
std::uint64_t bytes_of_lane(const CollectiveCall& call, const Rounds& rounds, std::uint32_t slice) {
  const double part =
      static_cast<double>(slice_of({0, rounds.chunk}, slice, call).count) / static_cast<double>(rounds.chunk);
  const double around = has_both_halves(call) ? 2.0 * (call.size - 1) / call.size : call.size - 1.0;
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(rounds.share) * around * part));
}

}  // namespace

std::uint32_t coarse_rounds(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  const bool has_groups = call.collective->kind == CollectiveKind::kAllreduce ||
                          call.collective->kind == CollectiveKind::kAllgather ||
                          call.collective->kind == CollectiveKind::kReduceScatter;
  if (!is_ring(algorithm, call) || !has_groups || !call.options->lane_costs.given) return 0;
  if (call.size < 4 * (kCoarseRounds + signal_rounds(call.size))) return 0;
  return ring_messages(call) > kManyRingMessages ? kCoarseRounds : 0;
}

LaneCosts coarse_costs(const LaneCosts& costs, const CollectiveCall& call, std::uint32_t rounds,
                       Time latency) {
  const Rounds fine(call, 0);
  // The signals' rounds take as long as so many others. The second slice has a round more.
  const double groups = rounds + (ring_slices(call) > 1 ? 0.5 : 0.0);
  const double each = std::max(1.0, (fine.rounds - signal_rounds(call.size)) / groups);
  LaneCosts all = costs;
  all.rounds = each;
  all.way = latency;
  if (costs.copied_bytes != UINT64_MAX) {
    const double copied = static_cast<double>(std::min(fine.chunk, costs.copied_bytes)) * each;
    all.copied_bytes = static_cast<std::uint64_t>(copied);
  }
  return all;
}

bool coarse_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  const std::uint32_t slices = ring_slices(call), lanes = call.options->channels * slices, n = call.size;
  const std::uint32_t tag = index * lanes + lane;
  const NodeOrder order(call, lane / slices);
  const std::uint32_t me = order.position(call.place()), signals = signal_rounds(n);
  if (index < signals) {
    const std::uint32_t away = (1u << index) % n;
    out.signal(order.rank_at((me + away) % n), tag);
    out.await(order.rank_at((me + n - away) % n), tag);
    return true;
  }
  // One slice of a chunk is copied while the other is sent: the second begins with half a round, and so ends.
  const std::uint64_t rounds = call.options->coarse_rounds, k = index - signals,
                      late = lane % slices > 0 ? 1 : 0;
  if (k >= rounds + late) return false;
  const std::uint64_t bytes = bytes_of_lane(call, Rounds(call, lane / slices), lane % slices);
  const auto until = [&](std::uint64_t round) {
    const std::uint64_t halves = std::min(2 * round - (round > 0 ? late : 0), 2 * rounds);
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(bytes) * halves / (2 * rounds));
  };
  const Part part{until(k), until(k + 1) - until(k)};
  const bool combines =
      call.collective->kind == CollectiveKind::kReduceScatter || (has_both_halves(call) && 2 * k < rounds);
  out.send(order.rank_at((me + 1) % n), tag, part);
  if (combines) {
    out.recv_combine(order.rank_at((me + n - 1) % n), tag, part);
  } else {
    out.recv(order.rank_at((me + n - 1) % n), tag, part);
  }
  out.in_format(call.options->format);
  return true;
}

}  // namespace weft::goal::nccl
