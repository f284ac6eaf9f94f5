#include <algorithm>
#include <bit>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {
namespace {

// Round k joins the trees of 2^k ranks whose first ones differ in bit k. Where the ranks are no power of two,
// the upper tree may be short of ranks, and those below without a partner get its blocks from the others of
// their tree, in k steps.
struct Round {
  Round(const CollectiveCall& call, std::uint32_t k)
      : ranks(1u << k), own(call.me & ~(ranks - 1)), other(own ^ ranks) {}
  std::uint32_t ranks;       // of a full tree
  std::uint32_t own, other;  // first rank of either tree
};

void exchange(const CollectiveCall& call, const Round& round, std::uint32_t tag, Group& out) {
  const std::uint32_t peer = call.me ^ round.ranks;
  if (peer >= call.size) return;
  const auto tree = [&](std::uint32_t first) {
    return rank_blocks(call, first, std::min(round.ranks, call.size - first), out);
  };
  out.send(peer, tag, tree(round.own));
  out.recv(peer, tag, tree(round.other));
}

// With the rank `distance` places away, in subtrees of twice that: the first ones of each have the blocks.
void pass_on(const CollectiveCall& call, const Round& round, std::uint32_t distance, std::uint32_t tag,
             Group& out) {
  const bool short_above =
      round.other > round.own && round.other < call.size && call.size - round.other < round.ranks;
  if (!short_above) return;
  const std::uint32_t have = call.size - round.other;
  const std::uint32_t lower = call.me & ~(2 * distance - 1);
  const std::uint32_t peer = call.me ^ distance;
  const Part blocks = rank_blocks(call, round.other, have, out);
  if (call.me < peer && call.me < lower + have && peer >= lower + have) out.send(peer, tag, blocks);
  if (call.me > peer && peer < lower + have && call.me >= lower + have) out.recv(peer, tag, blocks);
}

}  // namespace

bool allgather_recursive_doubling(const CollectiveCall& call, std::uint32_t, std::uint32_t index,
                                  Group& out) {
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(call.size - 1));
  const bool even = std::has_single_bit(call.size);
  std::uint32_t k = 0, step = index;
  for (; k < rounds; ++k) {
    const std::uint32_t steps = even ? 1 : 1 + k;
    if (step < steps) break;
    step -= steps;
  }
  if (k == rounds) return false;
  const Round round(call, k);
  if (step == 0) {
    exchange(call, round, index, out);
  } else {
    pass_on(call, round, round.ranks >> step, index, out);
  }
  return true;
}

}  // namespace weft::goal
