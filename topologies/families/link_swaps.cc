#include "topologies/families/link_swaps.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weft::topologies {
namespace {

// Which routers reach each other over the links added so far.
class Components {
 public:
  explicit Components(std::size_t routers) : parent_(routers) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }
  std::uint32_t find(std::uint32_t router) {
    while (parent_[router] != router) {
      parent_[router] = parent_[parent_[router]];
      router = parent_[router];
    }
    return router;
  }
  // Returns whether they did not reach each other before.
  bool join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace

LinkSwaps::LinkSwaps(std::uint32_t routers, RouterLinks links, bool parallel)
    : parallel_(parallel), links_(std::move(links)), begin_(routers + 1, 0), neighbours_(2 * links_.size()) {
  for (const auto& [a, b] : links_) {
    ++begin_[a + 1];
    ++begin_[b + 1];
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (const auto& [a, b] : links_) {
    neighbours_[next[a]++] = b;
    neighbours_[next[b]++] = a;
  }
}

bool LinkSwaps::linked(std::uint32_t a, std::uint32_t b) const {
  const auto end = neighbours_.begin() + begin_[a + 1];
  return std::find(neighbours_.begin() + begin_[a], end, b) != end;
}

void LinkSwaps::replace_neighbour(std::uint32_t router, std::uint32_t old, std::uint32_t now) {
  *std::find(neighbours_.begin() + begin_[router], neighbours_.begin() + begin_[router + 1], old) = now;
}

bool LinkSwaps::swap(std::size_t i, std::size_t j) {
  auto& [a, b] = links_[i];
  auto& [c, d] = links_[j];
  if (i == j || a == d || b == c) return false;
  if (!parallel_ && (linked(a, d) || linked(c, b))) return false;
  if (!parallel_ && a == c && b == d) return false;
  replace_neighbour(a, b, d);
  replace_neighbour(b, a, c);
  replace_neighbour(c, d, b);
  replace_neighbour(d, c, a);
  std::swap(b, d);
  return true;
}

bool LinkSwaps::make_simple(RandomStream& random) {
  constexpr std::uint64_t kDrawsPerLink = 1000;
  const auto is_bad = [&](std::size_t i) {
    const auto& [a, b] = links_[i];
    return a == b || std::count(neighbours_.begin() + begin_[a], neighbours_.begin() + begin_[a + 1], b) > 1;
  };
  for (std::size_t i = 0; i < links_.size(); ++i) {
    for (std::uint64_t draw = 0; is_bad(i); ++draw) {
      if (draw > kDrawsPerLink) return false;
      const std::size_t j = random.below(links_.size());
      if (random.below(2) == 1) turn(j);
      swap(i, j);
    }
  }
  return true;
}

void LinkSwaps::shuffle(const std::vector<std::uint32_t>& among, std::uint64_t draws, bool turning,
                        RandomStream& random) {
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    const std::uint32_t i = among[random.below(among.size())], j = among[random.below(among.size())];
    if (turning && random.below(2) == 1) turn(j);
    swap(i, j);
  }
}

std::size_t LinkSwaps::parts() const {
  Components components(begin_.size() - 1);
  std::size_t count = 0;
  for (std::size_t r = 0; r + 1 < begin_.size(); ++r) count += begin_[r] < begin_[r + 1];
  for (const auto& [a, b] : links_) count -= components.join(a, b);
  return count;
}

// A link without which its ends still reach each other, swapped with any link elsewhere, joins the two parts:
// what it leaves behind stays in one piece.
bool LinkSwaps::join_parts(std::size_t parts, const std::vector<std::uint32_t>& among) {
  while (this->parts() > parts) {
    Components components(begin_.size() - 1);
    std::vector<std::uint32_t> spare;
    std::vector<bool> in_among(links_.size(), false);
    for (const std::uint32_t i : among) in_among[i] = true;
    // Those that may not be swapped first, so that of a circle one that may is left over.
    for (const bool may : {false, true}) {
      for (std::uint32_t i = 0; i < links_.size(); ++i) {
        if (in_among[i] != may) continue;
        if (!components.join(links_[i].first, links_[i].second) && may) spare.push_back(i);
      }
    }
    bool swapped = false;
    for (std::size_t s = 0; s < spare.size() && !swapped; ++s) {
      const std::uint32_t part = components.find(links_[spare[s]].first);
      for (const std::uint32_t j : among) {
        if (components.find(links_[j].first) == part) continue;
        swapped = swap(spare[s], j);
        break;
      }
    }
    if (!swapped) return false;
  }
  return true;
}

}  // namespace weft::topologies
