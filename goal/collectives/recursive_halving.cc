// Reduce_scatter by exchanges of half of what is left, with a partner at half the distance each time
// (recursive halving) or at twice the distance (butterfly).
#include <bit>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {
namespace {

// The odd ones of the first 2 * rest ranks also stand for the even one before them, so that a power of two is
// left. Each of these deals with one share: its own block, or both of the pair's.
class Halving {
 public:
  Halving(const CollectiveCall& call, bool distance_grows, Group& out)
      : call_(call),
        out_(out),
        power_(std::bit_floor(call.size)),
        rest_(call.size - power_),
        rounds_(static_cast<std::uint32_t>(std::bit_width(power_)) - 1),
        place_(share_of(call.me)),
        distance_grows_(distance_grows) {}

  // Groups: 0 folds ranks in, 1 … rounds exchange, one more hands results to the ranks they are for. A rank
  // that was folded in does nothing in between.
  bool expand(std::uint32_t index) {
    const bool folded_in = call_.me < 2 * rest_ && call_.me % 2 == 0;
    if (index > rounds_ + 1) return false;
    if (index == 0) {
      fold();
    } else if (index == rounds_ + 1) {
      hand_over(folded_in);
    } else if (!folded_in) {
      exchange(index);
    }
    return true;
  }

 private:
  std::uint32_t share_of(std::uint32_t rank) const { return rank < 2 * rest_ ? rank / 2 : rank - rest_; }
  std::uint32_t rank_at(std::uint32_t place) const { return place < rest_ ? 2 * place + 1 : place + rest_; }
  std::uint32_t first_block(std::uint32_t share) const { return share < rest_ ? 2 * share : share + rest_; }
  Part shares(std::uint32_t first, std::uint32_t count) const {
    const std::uint32_t begin = first_block(first);
    return rank_blocks(call_, begin, first_block(first + count) - begin, out_);
  }
  std::uint32_t distance(std::uint32_t round) const {
    return distance_grows_ ? 1u << (round - 1) : power_ >> round;
  }
  // First of the power / 2^done shares that the rank at `place` still deals with after `done` rounds: the
  // upper half where its bit of that distance is set.
  std::uint32_t first_share(std::uint32_t place, std::uint32_t done) const {
    std::uint32_t first = 0;
    for (std::uint32_t round = 1; round <= done; ++round) {
      if ((place & distance(round)) != 0) first += power_ >> round;
    }
    return first;
  }

  // What a rank gave stays as it is: it adds up in a copy.
  void fold() {
    out_.copy(rank_blocks(call_, 0, call_.size, out_).count);
    if (call_.me >= 2 * rest_) return;
    const Part all = rank_blocks(call_, 0, call_.size, out_);
    if (call_.me % 2 == 0) {
      out_.send(call_.me + 1, 0, all);
    } else {
      out_.recv_combine(call_.me - 1, 0, all);
    }
  }

  void exchange(std::uint32_t round) {
    const std::uint32_t peer = rank_at(place_ ^ distance(round)), half = power_ >> round;
    const std::uint32_t first = first_share(place_, round - 1), kept = first_share(place_, round);
    const std::uint32_t given = kept == first ? first + half : first;
    out_.send(peer, round, shares(given, half));
    out_.recv_combine(peer, round, shares(kept, half));
  }

  void hand_over(bool folded_in) {
    const std::uint32_t tag = rounds_ + 1;
    if (!folded_in) {
      const std::uint32_t held = first_share(place_, rounds_);
      for (std::uint32_t owner = first_block(held); owner < first_block(held + 1); ++owner) {
        if (owner != call_.me) out_.send(owner, tag, rank_block(call_, owner, out_));
      }
    }
    // Who holds share s: of growing distances the place with the bits of s in reverse, else place s.
    std::uint32_t holder = place_;
    if (distance_grows_) {
      holder = 0;
      for (std::uint32_t bit = 0; bit < rounds_; ++bit) holder = holder << 1 | (place_ >> bit & 1);
    }
    if (rank_at(holder) != call_.me) out_.recv(rank_at(holder), tag, rank_block(call_, call_.me, out_));
  }

  const CollectiveCall& call_;
  Group& out_;
  std::uint32_t power_, rest_, rounds_;
  std::uint32_t place_;  // among the power of two
  bool distance_grows_;
};

}  // namespace

bool reduce_scatter_recursive_halving(const CollectiveCall& call, std::uint32_t, std::uint32_t index,
                                      Group& out) {
  return Halving(call, false, out).expand(index);
}

bool reduce_scatter_butterfly(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return Halving(call, true, out).expand(index);
}

}  // namespace weft::goal
