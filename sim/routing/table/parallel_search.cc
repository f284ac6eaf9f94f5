#include "sim/routing/table/parallel_search.h"

#include <algorithm>

namespace weft::routing {

void ParallelSearch::start() {
  std::fill(seen_.begin(), seen_.end(), 0);
  std::fill(distances_.begin(), distances_.end(), Distances{});
}

void ParallelSearch::seed(std::uint32_t s, std::uint32_t destination) {
  if (frontier_[s] == 0) active_.push_back(s);
  frontier_[s] |= std::uint64_t{1} << destination;
}

// What has reached a switch in this step has this distance.
void ParallelSearch::settle(std::uint32_t distance) {
  const std::uint64_t low = distance % 3 == 1 ? ~std::uint64_t{0} : 0;
  const std::uint64_t high = distance % 3 == 2 ? ~std::uint64_t{0} : 0;
  for (const std::uint32_t s : active_) {
    const std::uint64_t fresh = frontier_[s];
    seen_[s] |= fresh;
    distances_[s].low &= ~fresh | low;
    distances_[s].high &= ~fresh | high;
  }
}

void ParallelSearch::step() {
  for (const std::uint32_t s : active_) {
    const std::uint64_t bits = frontier_[s];
    for (const SwitchLink& link : links_.of(s)) {
      const std::uint64_t fresh = bits & ~seen_[link.to];
      if (fresh == 0 || is_down(down_links_, link.channel)) continue;
      if (next_[link.to] == 0) touched_.push_back(link.to);
      next_[link.to] |= fresh;
    }
  }
  for (const std::uint32_t s : active_) frontier_[s] = 0;
  frontier_.swap(next_);
  active_.swap(touched_);
  touched_.clear();
}

}  // namespace weft::routing
