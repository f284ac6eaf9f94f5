#include "topologies/analysis/edge_load.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "topologies/analysis/distances.h"

namespace weft::topologies {

namespace {

constexpr std::uint32_t kFar = ~std::uint32_t{0};

// Links from every vertex to up to 64 targets at once, a bit of each word for each of them (M. Then et al.,
// The more the merrier: efficient multi-source graph traversal, VLDB 2015).
class Distances {
 public:
  explicit Distances(const FlowNetwork& network)
      : network_(network),
        // What it takes stays below 64 MB.
        width_(std::clamp<std::size_t>((std::size_t{1} << 24) / std::max(network.vertices(), 1u), 1, 64)),
        hops_(width_ * network.vertices()),
        seen_(network.vertices()),
        frontier_(network.vertices()),
        next_(network.vertices()) {}

  std::size_t width() const { return width_; }
  // REQUIRES: no more than width() targets, vertices.
  void search(std::span<const std::uint32_t> targets) {
    std::ranges::fill(hops_, kFar);
    std::ranges::fill(seen_, 0);
    active_.clear();
    for (std::size_t i = 0; i < targets.size(); ++i)
      reach(targets[i], std::uint64_t{1} << i, frontier_, active_);
    for (std::uint32_t hops = 0; !active_.empty(); ++hops) {
      for (const std::uint32_t v : active_) {
        seen_[v] |= frontier_[v];
        for (std::uint64_t left = frontier_[v]; left != 0; left &= left - 1) {
          hops_[static_cast<std::size_t>(std::countr_zero(left)) * network_.vertices() + v] = hops;
        }
      }
      step(hops == 0);
    }
  }
  // By vertex; kFar: the target is out of reach.
  std::span<const std::uint32_t> to(std::size_t target) const {
    return {hops_.data() + target * network_.vertices(), network_.vertices()};
  }

 private:
  static void reach(std::uint32_t v, std::uint64_t targets, std::vector<std::uint64_t>& words,
                    std::vector<std::uint32_t>& vertices) {
    if (words[v] == 0) vertices.push_back(v);
    words[v] |= targets;
  }
  // Terminals forward nothing, but each is where the ways to it end.
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

  const FlowNetwork& network_;
  const std::size_t width_;
  std::vector<std::uint32_t> hops_;                    // by target and vertex
  std::vector<std::uint64_t> seen_, frontier_, next_;  // by vertex
  std::vector<std::uint32_t> active_, touched_;        // vertices with bits in frontier_, in next_
};

// Follows what is sent to one target after another.
class Follower {
 public:
  Follower(const FlowNetwork& network, std::vector<double>& load)
      : network_(network), load_(load), amount_(network.vertices(), 0), order_(network.vertices()) {
    std::uint32_t most = 0;
    for (std::uint32_t v = 0; v < network.vertices(); ++v) {
      most = std::max(most, network.begin[v + 1] - network.begin[v]);
    }
    arcs_.resize(most + 1);
  }

  void follow(std::uint32_t target, std::span<const std::uint32_t> hops,
              const std::vector<Demands::Entry>& entries) {
    for (const Demands::Entry& entry : entries) {
      const std::uint32_t v = network_.vertex_of[entry.terminal];
      if (hops[v] != kFar) amount_[v] = entry.rate;
    }
    sort(hops);
    for (const std::uint32_t v : order_) {
      const double amount = std::exchange(amount_[v], 0);
      if (amount == 0 || v == target) continue;
      divide(v, target, hops, amount);
    }
  }

 private:
  // The farthest first.
  void sort(std::span<const std::uint32_t> hops) {
    std::uint32_t most = 0;
    for (const std::uint32_t h : hops) most = h == kFar ? most : std::max(most, h);
    place_.assign(most + 2, 0);
    std::size_t reached = 0;
    for (const std::uint32_t h : hops) {
      if (h == kFar) continue;
      ++place_[most - h + 1];
      ++reached;
    }
    for (std::size_t h = 1; h < place_.size(); ++h) place_[h] += place_[h - 1];
    order_.resize(reached);
    for (std::uint32_t v = 0; v < hops.size(); ++v) {
      if (hops[v] != kFar) order_[place_[most - hops[v]]++] = v;
    }
  }
  void divide(std::uint32_t v, std::uint32_t target, std::span<const std::uint32_t> hops, double amount) {
    // Written whether it leads nearer or not: whether it does is as good as random, and a branch is slower.
    std::size_t count = 0;
    const std::uint32_t nearer = hops[v] - 1;
    for (std::uint32_t a = network_.begin[v]; a < network_.begin[v + 1]; ++a) {
      const std::uint32_t u = network_.to[a];
      arcs_[count] = a;
      count += static_cast<std::size_t>(hops[u] == nearer) &
               static_cast<std::size_t>(u < network_.routers || u == target);
    }
    double ways = 0;
    for (std::size_t i = 0; i < count; ++i) ways += network_.links[arcs_[i]];
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t a = arcs_[i];
      const double share = amount * network_.links[a] / ways;
      load_[a] += share;
      amount_[network_.to[a]] += share;
    }
  }

  const FlowNetwork& network_;
  std::vector<double>& load_;   // by arc
  std::vector<double> amount_;  // by vertex; 0 between calls
  std::vector<std::uint32_t> order_, arcs_;
  std::vector<std::size_t> place_;  // by hops
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

  Distances distances(network);
  Follower follower(network, result.arc);
  std::vector<std::uint32_t> targets;
  std::vector<Demands::Entry> entries;
  for (std::size_t first = 0; first < followed.size(); first += distances.width()) {
    const std::size_t end = std::min(followed.size(), first + distances.width());
    targets.clear();
    for (std::size_t i = first; i < end; ++i) targets.push_back(network.vertex_of[followed[i]]);
    distances.search(targets);
    for (std::size_t i = first; i < end; ++i) {
      demands.to(followed[i], entries);
      if (!entries.empty()) follower.follow(targets[i - first], distances.to(i - first), entries);
    }
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
