// Breadth-first search from up to 64 destinations at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/routing/table/switch_links.h"

namespace weft::routing {

// Distances modulo 3 from a switch to 64 destinations, a bit of each word for each destination: low + 2 ×
// high, 3 where there is no way. Those of two switches that are linked differ by one at most, so that this
// tells which is nearer.
struct Distances {
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  std::uint64_t low = kNowhere, high = kNowhere;

  // Those to which `next` is one step nearer. REQUIRES: they are linked.
  std::uint64_t nearer(const Distances& next) const {
    return (~low & ~high & ~next.low & next.high) | (low & ~high & ~next.low & ~next.high) |
           (~low & high & next.low & ~next.high);
  }
};

// One bit in a word for each destination, so that a step over a link is taken for all of them at once (M.
// Then et al., The more the merrier: efficient multi-source graph traversal, VLDB 2015).
class ParallelSearch {
 public:
  static constexpr std::uint32_t kWidth = 64;

  // Both must outlive it. `down_links`: by link, those not to use; empty: none is down.
  ParallelSearch(const SwitchLinks& links, const std::vector<bool>& down_links)
      : links_(links),
        down_links_(down_links),
        frontier_(links.switches()),
        next_(links.switches()),
        seen_(links.switches()),
        distances_(links.switches()) {}

  void start();
  // The switch is next to the destination: at distance 1.
  void seed(std::uint32_t s, std::uint32_t destination);
  // Calls on_step(reached) after each step: by switch, the destinations that have just reached it.
  template <typename OnStep>
  void run(OnStep&& on_step) {
    for (std::uint32_t distance = 1; !active_.empty(); ++distance) {
      settle(distance);
      on_step(std::span<const std::uint64_t>(frontier_));
      step();
    }
  }

  // Both tell what the last run found.
  std::span<const Distances> distances() const { return distances_; }
  std::uint64_t reached(std::uint32_t s) const { return seen_[s]; }

 private:
  void settle(std::uint32_t distance);
  void step();

  const SwitchLinks& links_;
  const std::vector<bool>& down_links_;
  std::vector<std::uint64_t> frontier_, next_, seen_;  // by switch
  std::vector<Distances> distances_;
  std::vector<std::uint32_t> active_, touched_;  // switches with bits in frontier_, in next_
};

}  // namespace weft::routing
