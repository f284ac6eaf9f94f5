// Reduce and allreduce by exchanging half of what is left, round by round: a reduce-scatter in which the part
// that a rank deals with is halved, and an allgather (or gather) that doubles it again, the same way back.
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"
#include "goal/collectives/fold.h"
#include "goal/collectives/torus.h"

namespace weft::goal {
namespace {

// Who meets whom, among a power of two of places: in round k of the way there place v meets partner(v, k),
// and keeps the upper half of what both deal with if upper(v, k).
//
// Rabenseifner: the nearest first. Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.
struct Nearest {
  std::uint32_t partner(std::uint32_t v, std::uint32_t k) const { return v ^ 1u << k; }
  bool upper(std::uint32_t v, std::uint32_t k) const { return (v >> k & 1) != 0; }
};

// Swing: by turns to the left and to the right, rho(j) = 1 - 2 + 4 - … + (-2)^j places away, where even
// places go one way and odd ones the other; so a step is a third shorter than in recursive halving. In a
// torus the dimensions take turns. Source: D. De Sensi et al., "Swing: Short-cutting Rings for Higher
// Bandwidth Allreduce", NSDI 2024.
class Swing {
 public:
  // Lane l begins with dimension l / 2; in odd lanes everybody goes the other way.
  // REQUIRES: sizes that are powers of two.
  Swing(const Torus& torus, std::uint32_t lane) : torus_(torus), mirrored_(lane % 2 != 0) {
    const std::uint32_t dimensions = torus.dimensions();
    const auto rounds = static_cast<std::uint32_t>(std::countr_zero(torus.size()));
    for (std::uint32_t turn = 0, k = 0; k < rounds; ++turn) {
      const std::uint32_t d = (lane / 2 + turn) % dimensions, j = turn / dimensions;
      if (j < 32 && std::uint64_t{1} << j < torus.size(d)) rounds_[k++] = {d, j};
    }
  }
  std::uint32_t partner(std::uint32_t v, std::uint32_t k) const {
    const auto [d, j] = rounds_[k];
    const std::uint32_t at = place(v, d);
    return torus_.moved(v, d, mirror(shifted(at, at % 2 == 0 ? rho(j) : -rho(j), d), d));
  }
  // Along one dimension: even places that go on to share data from step j on are equal modulo 2^(j + 1), as
  // rho(i) - rho(j) is a multiple of that for i > j; an odd place goes with the even one that it meets in the
  // last step. So bit j + 1 of that even place tells the halves of step j apart; in the last step the two
  // themselves.
  bool upper(std::uint32_t v, std::uint32_t k) const {
    const auto [d, j] = rounds_[k];
    const std::uint32_t at = place(v, d);
    const auto last = static_cast<std::uint32_t>(std::countr_zero(torus_.size(d))) - 1;
    if (j == last) return at % 2 != 0;
    const std::uint32_t even = at % 2 == 0 ? at : shifted(at, -rho(last), d);
    return (even >> (j + 1) & 1) != 0;
  }

 private:
  // (1 - (-2)^(j + 1)) / 3
  static std::int64_t rho(std::uint32_t j) {
    const std::int64_t power = std::int64_t{2} << j;
    return (j % 2 == 0 ? 1 + power : 1 - power) / 3;
  }
  std::uint32_t mirror(std::uint32_t place, std::uint32_t d) const {
    return mirrored_ && place > 0 ? torus_.size(d) - place : place;
  }
  std::uint32_t place(std::uint32_t v, std::uint32_t d) const { return mirror(torus_.place(v, d), d); }
  std::uint32_t shifted(std::uint32_t place, std::int64_t by, std::uint32_t d) const {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(place + by) & (torus_.size(d) - 1));
  }

  struct Round {
    std::uint32_t dimension, step;
  };
  Torus torus_;
  bool mirrored_;
  std::array<Round, 32> rounds_{};
};

template <typename Meetings>
class Halving {
 public:
  // `part`: of the vector. Tags are multiples of `tag_stride` plus `tag`.
  Halving(const CollectiveCall& call, const Fold& fold, const Meetings& meetings, Part part,
          std::uint32_t tag_stride = 1, std::uint32_t tag = 0)
      : fold_(fold),
        meetings_(meetings),
        v_(fold.place()),
        blocks_(part, call.collective->element_bytes, fold.power()),
        tag_stride_(tag_stride),
        tag_(tag) {}

  // Round k on the way there, or back.
  void scatter(std::uint32_t k, Group& out) const {
    out.send(peer(k), tag(k), half(k, false));
    out.recv_combine(peer(k), tag(k), half(k, true));
  }
  void gather(std::uint32_t k, Group& out) const {
    out.send(peer(k), tag(fold_.rounds() + k), half(k, true));
    out.recv(peer(k), tag(fold_.rounds() + k), half(k, false));
  }
  // Back to one place only: it receives, and who meets it or one of its own sends.
  void gather_at(std::uint32_t root, std::uint32_t k, Group& out) const {
    for (std::uint32_t later = k + 1; later < fold_.rounds(); ++later) {
      if (meetings_.upper(v_, later) != meetings_.upper(root, later)) return;  // has sent all it had
    }
    if (meetings_.upper(v_, k) == meetings_.upper(root, k)) {
      out.recv(peer(k), tag(fold_.rounds() + k), half(k, false));
    } else {
      out.send(peer(k), tag(fold_.rounds() + k), half(k, true));
    }
  }

 private:
  std::uint32_t tag(std::uint32_t k) const { return k * tag_stride_ + tag_; }
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
  const Meetings& meetings_;
  std::uint32_t v_;
  EvenBlocks blocks_;
  std::uint32_t tag_stride_, tag_;
};

// All acting ranks' rounds there and back. False past the last.
template <typename Meetings>
bool there_and_back(const Halving<Meetings>& halving, std::uint32_t rounds, std::uint32_t index, Group& out) {
  if (index >= 2 * rounds) return false;
  if (index < rounds) {
    halving.scatter(index, out);
  } else {
    halving.gather(2 * rounds - 1 - index, out);
  }
  return true;
}

}  // namespace

bool allreduce_rabenseifner(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  const Fold fold(call.size, call.me);
  const std::uint32_t rounds = fold.rounds();
  const Part all = {0, call.collective->bytes};
  return fold_around(fold, all, 2 * rounds, index, 2 * rounds, out, [&](std::uint32_t inner) {
    const Nearest nearest;
    return there_and_back(Halving(call, fold, nearest, all), rounds, inner, out);
  });
}

bool allreduce_swing(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  const Fold fold(call.size, call.me);
  const std::uint32_t rounds = fold.rounds(), lanes = torus_lanes(call);
  const Part part = EvenBlocks(call, lanes).part(lane);
  return fold_around(
      fold, part, 2 * rounds, index, 2 * (rounds * lanes + lane), out, [&](std::uint32_t inner) {
        // One dimension takes any number of ranks: the acting ones are the ring.
        static const std::vector<std::uint32_t> kRing = {0};
        const std::vector<std::uint32_t>& dims = call.options->dims;
        const Swing swing(Torus(dims.size() > 1 ? dims : kRing, fold.power()), lane);
        return there_and_back(Halving(call, fold, swing, part, lanes, lane), rounds, inner, out);
      });
}

std::string swing_objection(const CollectiveOptions& options, std::uint32_t ranks) {
  const std::string objection = torus_objection(options, ranks);
  if (!objection.empty() || options.dims.size() == 1) return objection;
  return std::has_single_bit(ranks) ? "" : "several dims must be powers of two";
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
  const Nearest nearest;
  const Halving halving(call, fold, nearest, all);
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
