// Allgather and reduce-scatter by parallel aggregated trees: every rank is the root of a binomial tree, and
// the messages that go the same way at the same time are one. Sources: S. Jeaugey, "PAT: a new algorithm for
// all-gather and reduce-scatter operations at scale", 2025; NCCL 2.23 and later.
#include <algorithm>
#include <bit>

#include "goal/collectives/blocks.h"
#include "goal/collectives/nccl/algorithms.h"
#include "goal/collectives/nccl/work.h"

namespace weft::goal::nccl {
namespace {

struct Step {
  std::uint32_t lane, index;  // for the tag
  std::uint64_t turn;
  std::uint32_t distance;
};

// Where chunk `turn` of the block of the rank at a place is, of this channel.
Part chunk_of(const CollectiveCall& call, const Step& step, std::uint32_t place, const Group& out) {
  const std::uint64_t chunk = chunk_bytes(Shape::kPat, call);
  const Part share =
      ChannelShares(rank_block(call, call.rank_at(place), out), call, call.size).part(step.lane);
  const std::uint64_t done = std::min(step.turn * chunk, share.count);
  return {share.begin + done, std::min(chunk, share.count - done)};
}

// Calls first(part), then more(part) for the chunks whose way leads from `low` to the rank `distance` on: of
// the ranks 0, 2 distance, 4 distance … places before `low`, as long as the other end is not past their
// trees.
template <typename First, typename More>
void each_chunk(const CollectiveCall& call, const Step& step, std::uint32_t low, First first, More more,
                const Group& out) {
  for (std::uint64_t back = 0; back + step.distance < call.size; back += 2 * std::uint64_t{step.distance}) {
    const auto root = static_cast<std::uint32_t>((low + call.size - back) % call.size);
    const Part part = chunk_of(call, step, root, out);
    if (back == 0) {
      first(part);
    } else {
      more(part);
    }
  }
}

bool next_step(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, bool far_first,
               Step& step) {
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(call.size - 1));
  const auto& counts = call.collective->counts;
  const std::uint64_t block =
      counts.empty() ? call.collective->bytes : *std::max_element(counts.begin(), counts.end());
  const std::uint64_t most = ChannelShares({0, block}, call, call.size).most_bytes();
  const std::uint64_t chunk = chunk_bytes(Shape::kPat, call), turn = index / rounds;
  if (turn >= (most + chunk - 1) / chunk) return false;
  const std::uint32_t k = index % rounds;
  step = {lane, index, turn, 1u << (far_first ? rounds - 1 - k : k)};
  return true;
}

}  // namespace

bool allgather_pat(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  Step step;
  if (!next_step(call, lane, index, true, step)) return false;
  const std::uint32_t to = (call.place() + step.distance) % call.size;
  const std::uint32_t from = (call.place() + call.size - step.distance) % call.size;
  const std::uint32_t tag = index * call.options->channels + lane;
  const auto also = [&](Part part) { out.also(part); };
  each_chunk(
      call, step, call.place(), [&](Part part) { out.send(to, tag, part); }, also, out);
  each_chunk(
      call, step, from, [&](Part part) { out.recv(from, tag, part); }, also, out);
  out.in_format(call.options->format);
  return true;
}

bool reduce_scatter_pat(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  Step step;
  if (!next_step(call, lane, index, false, step)) return false;
  const std::uint32_t to = (call.place() + call.size - step.distance) % call.size;
  const std::uint32_t from = (call.place() + step.distance) % call.size;
  const std::uint32_t tag = index * call.options->channels + lane;
  const auto also = [&](Part part) { out.also(part); };
  each_chunk(
      call, step, to, [&](Part part) { out.send(to, tag, part); }, also, out);
  each_chunk(
      call, step, call.place(), [&](Part part) { out.recv_combine(from, tag, part); }, also, out);
  out.in_format(call.options->format);
  return true;
}

}  // namespace weft::goal::nccl
