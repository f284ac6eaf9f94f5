#include <bit>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/fold.h"

namespace weft::goal {

bool barrier_recursive_doubling(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  const Fold fold(call.size, call.me);
  const std::uint32_t last = fold.rounds() + 1;
  if (!fold.acts()) {
    if (index == 0) out.signal(fold.partner(), 0);
    if (index == 0) out.await(fold.partner(), last);
    return index == 0;
  }
  if (!fold.paired()) ++index;
  if (index == 0) {
    out.await(fold.partner(), 0);
  } else if (index < last) {
    const std::uint32_t peer = fold.rank(fold.place() ^ 1u << (index - 1));
    out.signal(peer, index);
    out.await(peer, index);
  } else if (index == last && fold.paired()) {
    out.signal(fold.partner(), last);
  } else {
    return false;
  }
  return true;
}

bool allreduce_recursive_doubling(const CollectiveCall& call, std::uint32_t, std::uint32_t index,
                                  Group& out) {
  const Part all = {0, call.collective->bytes};
  const Fold fold(call.size, call.me);
  const std::uint32_t rounds = fold.rounds();
  return fold_around(fold, all, rounds, index, rounds, out, [&](std::uint32_t round) {
    if (round >= rounds) return false;
    const std::uint32_t peer = fold.rank(fold.place() ^ 1u << round);
    out.send(peer, round, all);
    out.recv_combine(peer, round, all);
    return true;
  });
}

namespace {

// After round k a rank holds the combination of itself and the 2^(k+1) - 1 ranks before it (as many as there
// are). Exscan keeps a second accumulator, without its own contribution.
bool prefix(const CollectiveCall& call, bool exclusive, std::uint32_t index, Group& out) {
  const Part all = {0, call.collective->bytes};
  const std::uint64_t p = call.size, me = call.me;
  if (index >= 32 || std::uint64_t{1} << index >= p) return false;
  const std::uint64_t distance = std::uint64_t{1} << index;
  if (me + distance < p) out.send(static_cast<std::uint32_t>(me + distance), index, all);
  out.in_turn();  // MPI_Sendrecv: the next round begins when this one's message has been sent
  if (me >= distance) {
    const bool sent_on = me + 2 * distance < p;  // the sum with our own part, by the next round
    const int times = exclusive ? (sent_on ? 1 : 0) + (index > 0 ? 1 : 0) : 1;
    out.recv_combine(static_cast<std::uint32_t>(me - distance), index, all, static_cast<std::uint8_t>(times));
  }
  return true;
}

}  // namespace

bool scan_recursive_doubling(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return prefix(call, false, index, out);
}

bool exscan_recursive_doubling(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return prefix(call, true, index, out);
}

}  // namespace weft::goal
