#include "topologies/analysis/edge_load.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "topologies/analysis/distances.h"

namespace weft::topologies {

namespace {

template <typename Visit>
void each_bit(std::uint64_t bits, Visit&& visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<std::size_t>(std::countr_zero(bits)));
}

// Follows what is sent to up to 64 targets at once, a bit of each word for each of them (M. Then et al., The
// more the merrier: efficient multi-source graph traversal, VLDB 2015): first breadth first from the targets,
// then back, the farthest vertices first.
class Follower {
 public:
  Follower(const FlowNetwork& network, std::vector<double>& load)
      : network_(network),
        load_(load),
        // What it takes stays below 128 MB.
        width_(std::clamp<std::size_t>((std::size_t{1} << 24) / std::max(network.vertices(), 1u), 1, 64)),
        seen_(network.vertices()),
        frontier_(network.vertices()),
        next_(network.vertices()),
        amount_(network.vertices() * width_) {
    std::uint32_t most = 0;
    for (std::uint32_t v = 0; v < network.vertices(); ++v) {
      most = std::max(most, network.begin[v + 1] - network.begin[v]);
    }
    hits_.resize(most + 1);
  }

  std::size_t width() const { return width_; }
  // Terminals, no more than width() of them.
  void follow(std::span<const std::uint32_t> targets, const Demands& demands) {
    search(targets);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      demands.to(targets[i], entries_);
      for (const Demands::Entry& entry : entries_) {
        const std::uint32_t v = network_.vertex_of[entry.terminal];
        if ((seen_[v] >> i & 1) != 0) amount_[v * width_ + i] = entry.rate;
      }
    }
    std::vector<std::uint64_t>& nearer = frontier_;  // all 0 after the search
    for (std::size_t hops = levels_.size(); hops-- > 1;) {
      for (const Reached& each : levels_[hops - 1]) {
        // Terminals forward nothing, but what is for them arrives.
        if (hops == 1 || each.vertex < network_.routers) nearer[each.vertex] = each.targets;
      }
      for (const Reached& each : levels_[hops]) divide(each.vertex, each.targets, nearer);
      for (const Reached& each : levels_[hops - 1]) nearer[each.vertex] = 0;
    }
    for (const Reached& each : levels_[0]) {
      each_bit(each.targets, [&](std::size_t i) { amount_[each.vertex * width_ + i] = 0; });
    }
  }

 private:
  struct Reached {
    std::uint32_t vertex = 0;
    std::uint64_t targets = 0;  // that are so many links away
  };
  struct Hit {
    std::uint32_t arc = 0;
    std::uint64_t targets = 0;  // that it leads nearer to
  };

  void search(std::span<const std::uint32_t> targets) {
    std::ranges::fill(seen_, 0);
    levels_.clear();
    active_.clear();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      reach(network_.vertex_of[targets[i]], std::uint64_t{1} << i, frontier_, active_);
    }
    while (!active_.empty()) {
      std::vector<Reached>& level = levels_.emplace_back();
      for (const std::uint32_t v : active_) {
        seen_[v] |= frontier_[v];
        level.push_back({v, frontier_[v]});
      }
      step(levels_.size() == 1);
    }
  }
  static void reach(std::uint32_t v, std::uint64_t targets, std::vector<std::uint64_t>& words,
                    std::vector<std::uint32_t>& vertices) {
    if (words[v] == 0) vertices.push_back(v);
    words[v] |= targets;
  }
  void step(bool first) {
    for (const std::uint32_t v : active_) {
      const std::uint64_t from_here = std::exchange(frontier_[v], 0);
      if (v >= network_.routers && !first) continue;
      for (std::uint32_t a = network_.begin[v]; a < network_.begin[v + 1]; ++a) {
        const std::uint64_t fresh = from_here & ~seen_[network_.to[a]];
        if (fresh != 0) reach(network_.to[a], fresh, next_, touched_);
      }
    }
    active_.swap(touched_);
    touched_.clear();
    frontier_.swap(next_);
  }

  // What is at a vertex for these targets, over the links that lead nearer to each.
  void divide(std::uint32_t v, std::uint64_t targets, const std::vector<std::uint64_t>& nearer) {
    double* const here = amount_.data() + v * width_;
    each_bit(targets, [&](std::size_t i) { targets ^= here[i] == 0 ? std::uint64_t{1} << i : 0; });
    if (targets == 0) return;
    std::size_t count = 0;
    for (std::uint32_t a = network_.begin[v]; a < network_.begin[v + 1]; ++a) {
      const std::uint64_t led = targets & nearer[network_.to[a]];
      hits_[count] = {a, led};
      count += led != 0 ? 1 : 0;
    }
    const std::span<const Hit> hits(hits_.data(), count);
    for (const Hit& hit : hits) {
      each_bit(hit.targets, [&](std::size_t i) { ways_[i] += network_.links[hit.arc]; });
    }
    for (const Hit& hit : hits) {
      double* const there = amount_.data() + network_.to[hit.arc] * width_;
      double sum = load_[hit.arc];
      each_bit(hit.targets, [&](std::size_t i) {
        const double share = here[i] * network_.links[hit.arc] / ways_[i];
        sum += share;
        there[i] += share;
      });
      load_[hit.arc] = sum;
    }
    each_bit(targets, [&](std::size_t i) { here[i] = ways_[i] = 0; });
  }

  const FlowNetwork& network_;
  std::vector<double>& load_;  // by arc
  const std::size_t width_;
  std::vector<std::uint64_t> seen_, frontier_, next_;  // by vertex
  std::vector<std::uint32_t> active_, touched_;        // vertices with bits in frontier_, in next_
  std::vector<std::vector<Reached>> levels_;           // by links to the target
  std::vector<double> amount_;                         // by vertex and target; 0 between calls
  std::array<double, 64> ways_{};                      // by target; 0 between calls
  std::vector<Hit> hits_;
  std::vector<Demands::Entry> entries_;
};

}  // namespace

EdgeLoad edge_load(const FlowNetwork& network, const Demands& demands, std::uint64_t most_destinations,
                   std::uint64_t seed) {
  EdgeLoad result;
  result.arc.assign(network.arcs(), 0);
  std::vector<std::uint32_t> all(demands.terminals());
  std::iota(all.begin(), all.end(), 0u);
  const std::vector<std::uint32_t> followed = sample(all, most_destinations, seed, 5);
  result.destinations = followed.size();
  result.sampled = followed.size() < all.size();

  Follower follower(network, result.arc);
  for (std::size_t first = 0; first < followed.size(); first += follower.width()) {
    const std::size_t count = std::min(followed.size() - first, follower.width());
    follower.follow(std::span(followed).subspan(first, count), demands);
  }

  const double factor =
      followed.empty() ? 1 : static_cast<double>(all.size()) / static_cast<double>(followed.size());
  std::uint64_t between = 0;
  for (std::uint32_t v = 0; v < network.vertices(); ++v) {
    for (std::uint32_t a = network.begin[v]; a < network.begin[v + 1]; ++a) {
      result.arc[a] *= factor / network.rate[a];
      if (v >= network.routers || network.to[a] >= network.routers) continue;
      result.most = std::max(result.most, result.arc[a]);
      result.mean += result.arc[a];
      ++between;
    }
  }
  if (between > 0) result.mean /= static_cast<double>(between);
  if (result.mean > 0) result.imbalance = result.most / result.mean;
  if (result.most > 1) result.saturation = 1 / result.most;
  return result;
}

}  // namespace weft::topologies
