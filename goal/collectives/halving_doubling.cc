// Reduce and allreduce by exchanging half of what is left, round by round: a reduce-scatter in which the part
// that a rank deals with is halved, and an allgather (or gather) that doubles it again, the same way back.
#include <bit>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"
#include "goal/collectives/fold.h"

namespace weft::goal {
namespace {

// Who meets whom, among a power of two of places: in round k of the way there place v meets partner(v, k),
// and keeps the upper half of what both deal with if upper(v, k).
//
// Rabenseifner: the nearest first. Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.
struct Nearest {
  explicit Nearest(const Fold&) {}
  std::uint32_t partner(std::uint32_t v, std::uint32_t k) const { return v ^ 1u << k; }
  bool upper(std::uint32_t v, std::uint32_t k) const { return (v >> k & 1) != 0; }
};

// Swing: by turns to the left and to the right, rho(k) = 1 - 2 + 4 - … + (-2)^k places away, where even
// places go one way and odd ones the other; so a step is a third shorter than in recursive halving. Source:
// D. De Sensi et al., "Swing: Short-cutting Rings for Higher Bandwidth Allreduce", NSDI 2024.
struct Swing {
  explicit Swing(const Fold& fold) : places(fold.power()), rounds(fold.rounds()) {}
  // (1 - (-2)^(k + 1)) / 3
  static std::int64_t rho(std::uint32_t k) {
    const std::int64_t power = std::int64_t{2} << k;
    return (k % 2 == 0 ? 1 + power : 1 - power) / 3;
  }
  std::uint32_t shifted(std::uint32_t v, std::int64_t by) const {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(v + by) & (places - 1));
  }
  std::uint32_t partner(std::uint32_t v, std::uint32_t k) const {
    return shifted(v, v % 2 == 0 ? rho(k) : -rho(k));
  }
  // Even places that go on to share data from round k on are equal modulo 2^(k + 1), as rho(j) - rho(k) is a
  // multiple of that for j > k; an odd place goes with the even one it meets in the last round. So bit k + 1
  // of that even place tells the halves of round k apart; in the last round the two themselves.
  bool upper(std::uint32_t v, std::uint32_t k) const {
    if (k + 1 == rounds) return v % 2 != 0;
    const std::uint32_t even = v % 2 == 0 ? v : shifted(v, -rho(rounds - 1));
    return (even >> (k + 1) & 1) != 0;
  }
  std::uint32_t places, rounds;
};

template <typename Meetings>
class Halving {
 public:
  Halving(const CollectiveCall& call, const Fold& fold)
      : fold_(fold), meetings_(fold), v_(fold.place()), blocks_(call, fold.power()) {}

  // Round k on the way there, or back; tags k and rounds + k.
  void scatter(std::uint32_t k, Group& out) const {
    out.send(peer(k), k, half(k, false));
    out.recv_combine(peer(k), k, half(k, true));
  }
  void gather(std::uint32_t k, Group& out) const {
    out.send(peer(k), fold_.rounds() + k, half(k, true));
    out.recv(peer(k), fold_.rounds() + k, half(k, false));
  }
  // Back to one place only: it receives, and who meets it or one of its own sends.
  void gather_at(std::uint32_t root, std::uint32_t k, Group& out) const {
    for (std::uint32_t later = k + 1; later < fold_.rounds(); ++later) {
      if (meetings_.upper(v_, later) != meetings_.upper(root, later)) return;  // has sent all it had
    }
    if (meetings_.upper(v_, k) == meetings_.upper(root, k)) {
      out.recv(peer(k), fold_.rounds() + k, half(k, false));
    } else {
      out.send(peer(k), fold_.rounds() + k, half(k, true));
    }
  }

 private:
  std::uint32_t peer(std::uint32_t k) const { return fold_.rank(meetings_.partner(v_, k)); }
  // The half of round k that this rank keeps, or gives away.
  Part half(std::uint32_t k, bool kept) const {
    std::uint32_t begin = 0, width = fold_.power();
    for (std::uint32_t round = 0; round < k; ++round) {
      width /= 2;
      if (meetings_.upper(v_, round)) begin += width;
    }
    width /= 2;
    return blocks_.part(meetings_.upper(v_, k) == kept ? begin + width : begin, width);
  }

  const Fold& fold_;
  Meetings meetings_;
  std::uint32_t v_;
  EvenBlocks blocks_;
};

template <typename Meetings>
bool allreduce(const CollectiveCall& call, std::uint32_t index, Group& out) {
  const Fold fold(call.size, call.me);
  const std::uint32_t rounds = fold.rounds();
  const Part all = {0, call.collective->bytes};
  return fold_around(fold, all, 2 * rounds, index, 2 * rounds, out, [&](std::uint32_t round) {
    const Halving<Meetings> halving(call, fold);
    if (round < rounds) {
      halving.scatter(round, out);
    } else if (round < 2 * rounds) {
      halving.gather(2 * rounds - 1 - round, out);
    } else {
      return false;
    }
    return true;
  });
}

}  // namespace

bool allreduce_rabenseifner(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return allreduce<Nearest>(call, index, out);
}

bool allreduce_swing(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return allreduce<Swing>(call, index, out);
}

bool reduce_rabenseifner(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  const Part all = {0, call.collective->bytes};
  const std::uint32_t root = call.collective->root;
  const Fold fold(call.size, call.me, root);
  const std::uint32_t rounds = fold.rounds();
  if (!fold.acts()) {
    if (index == 0) out.send(fold.partner(), 2 * rounds, all);
    return index == 0;
  }
  if (fold.paired()) {
    if (index == 0) {
      out.recv_combine(fold.partner(), 2 * rounds, all);
      return true;
    }
    --index;
  }
  const Halving<Nearest> halving(call, fold);
  if (index < rounds) {
    halving.scatter(index, out);
  } else if (index < 2 * rounds) {
    halving.gather_at(fold.place_of(root), 2 * rounds - 1 - index, out);
  } else {
    return false;
  }
  return true;
}

}  // namespace weft::goal
