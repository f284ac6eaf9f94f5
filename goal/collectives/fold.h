// Folding a number of ranks to a power of two, for algorithms that need one.
#pragma once

#include <bit>
#include <cstdint>

#include "goal/collectives/steps.h"

namespace weft::goal {

// Ranks 2i and 2i + 1 below 2 * (size - power) are pairs: one of them acts for both. The acting ranks have
// the places 0 … power - 1. Source: R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005.
class Fold {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  // `keep`: a rank that must act; of other pairs the odd rank acts.
  Fold(std::uint32_t size, std::uint32_t me, std::uint32_t keep = kNone)
      : power_(std::bit_floor(size)), rest_(size - power_), me_(me), keep_(keep) {}

  std::uint32_t power() const { return power_; }
  std::uint32_t rounds() const { return static_cast<std::uint32_t>(std::bit_width(power_)) - 1; }
  bool paired() const { return me_ < 2 * rest_; }
  std::uint32_t partner() const { return me_ ^ 1; }
  bool acts() const { return !paired() || rank(me_ / 2) == me_; }
  std::uint32_t place_of(std::uint32_t rank) const { return rank < 2 * rest_ ? rank / 2 : rank - rest_; }
  std::uint32_t place() const { return place_of(me_); }
  // The rank that acts at a place.
  std::uint32_t rank(std::uint32_t place) const {
    if (place >= rest_) return place + rest_;
    return 2 * place == keep_ ? keep_ : 2 * place + 1;
  }

 private:
  std::uint32_t power_, rest_, me_, keep_;
};

// An allreduce over acting ranks becomes one over all: the other of each pair hands its vector in, and gets
// the result. `inner(index)` appends group `index` of the acting ranks' algorithm, false past the last of its
// `groups`. Tags: `tag` and `tag` + 1 are used here.
template <typename Inner>
bool fold_around(const Fold& fold, Part vector, std::uint32_t groups, std::uint32_t index, std::uint32_t tag,
                 Group& out, Inner inner) {
  if (!fold.paired()) return inner(index);
  if (!fold.acts()) {
    if (index == 0) out.send(fold.partner(), tag, vector);
    if (index == 1) out.recv(fold.partner(), tag + 1, vector);
    return index < 2;
  }
  if (index == 0) {
    out.recv_combine(fold.partner(), tag, vector);
  } else if (index <= groups) {
    return inner(index - 1);
  } else if (index == groups + 1) {
    out.send(fold.partner(), tag + 1, vector);
  } else {
    return false;
  }
  return true;
}

// How many groups that makes.
inline std::uint32_t fold_groups(const Fold& fold, std::uint32_t groups) {
  return !fold.paired() ? groups : fold.acts() ? groups + 2 : 2;
}

}  // namespace weft::goal
