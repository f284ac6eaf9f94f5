// Bcast as a scatter and an allgather: for long vectors. Source: M. Barnett et al., "Interprocessor
// Collective Communication Library (InterCom)", SHPCC 1994 (van de Geijn's algorithm); R. Thakur, R.
// Rabenseifner, W. Gropp, IJHPCA 19(1), 2005.
#include <algorithm>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/allgather_phases.h"
#include "goal/collectives/blocks.h"
#include "goal/collectives/trees.h"

namespace weft::goal {
namespace {

constexpr std::uint32_t kScatterTag = 0;  // the allgathers count from 1

// The blocks go down a binomial tree, those of a subtree as one message. Groups 0 and 1.
void scatter(const CollectiveCall& call, std::uint32_t index, Group& out) {
  const NomialTree tree{call.size};
  const FromRoot rank(call);
  const std::uint32_t v = rank.place(call.me);
  const EvenBlocks blocks(call, call.size);
  const auto subtree = [&](std::uint32_t place) {
    const std::uint64_t width = std::min<std::uint64_t>(tree.top(place), call.size - place);
    return blocks.part(place, static_cast<std::uint32_t>(width));
  };
  if (index == 0 && v != 0) out.recv(rank(tree.parent(v)), kScatterTag, subtree(v));
  if (index == 1) {
    tree.children(v, [&](std::uint32_t child) { out.send(rank(child), kScatterTag, subtree(child)); });
    out.in_turn();  // so the allgather begins when the scatter is over
  }
}

}  // namespace

bool bcast_scatter_allgather(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  if (index < 2) {
    scatter(call, index, out);
    return true;
  }
  const EvenBlocks all(call, call.size);
  const auto blocks = [&](std::uint32_t first, std::uint32_t count) { return all.part(first, count); };
  const FromRoot rank(call);
  return DoublingAllgather(call.size, rank.place(call.me), blocks, rank).expand(index - 2, 1, out);
}

bool bcast_scatter_ring_allgather(const CollectiveCall& call, std::uint32_t, std::uint32_t index,
                                  Group& out) {
  if (index < 2) {
    scatter(call, index, out);
    return true;
  }
  const std::uint32_t k = index - 2;
  if (k + 1 >= call.size) return false;
  const EvenBlocks blocks(call, call.size);
  const FromRoot rank(call);
  const RingRound round(call.size, rank.place(call.me), 0, k);
  out.send(rank(round.next), k + 1, blocks.part(round.outgoing));
  out.recv(rank(round.before), k + 1, blocks.part(round.incoming));
  return true;
}

}  // namespace weft::goal
