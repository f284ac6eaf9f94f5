#include "topologies/analysis/resilience.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/units/random.h"
#include "topologies/analysis/distances.h"

namespace weft::topologies {
namespace {

// Sets of vertices that grow together, and how many of them hold vertices that count.
class Components {
 public:
  explicit Components(std::uint32_t vertices) : parent_(vertices), counting_(vertices, 0) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }
  void count(std::uint32_t v) { held_ += counting_[find(v)]++ == 0; }
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    if (a == b) return;
    held_ -= counting_[a] > 0 && counting_[b] > 0;
    counting_[a] += counting_[b];
    parent_[b] = a;
  }
  std::uint32_t held() const { return held_; }
  std::uint32_t find(std::uint32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }

 private:
  std::vector<std::uint32_t> parent_, counting_;
  std::uint32_t held_ = 0;
};

using Pair = std::pair<std::uint32_t, std::uint32_t>;

// What is removed in one trial, and what is left after the first so many removals.
struct Order {
  bool of_links = true;
  std::vector<std::uint32_t> list;  // links or routers
};

class Trials {
 public:
  Trials(const RouterGraph& graph, const ResilienceOptions& options) : graph_(graph), options_(options) {
    for (std::uint32_t v = 0; v < graph.routers(); ++v) {
      if (!graph.in_host[v]) switches_.push_back(v);
      for (std::uint32_t a = graph.begin[v]; a < graph.begin[v + 1]; ++a) {
        for (std::uint32_t i = 0; i < graph.links[a] && v < graph.to[a]; ++i)
          links_.push_back({v, graph.to[a]});
      }
    }
    // Routers that never could reach each other, as those of different planes, are not parted.
    Components whole(graph.routers());
    for (const auto& [a, b] : links_) whole.join(a, b);
    for (std::uint32_t v = 0; v < graph.routers(); ++v) plane_.push_back(whole.find(v));
  }

  Order order(bool of_links, std::uint64_t trial) const {
    Order order{of_links, {}};
    order.list.resize(of_links ? links_.size() : switches_.size());
    std::iota(order.list.begin(), order.list.end(), 0u);
    RandomStream random(options_.seed, trial, of_links ? 6 : 7);
    for (std::size_t i = order.list.size(); i > 1; --i)
      std::swap(order.list[i - 1], order.list[random.below(i)]);
    return order;
  }

  // The share of removals at which routers are first parted. By putting back, last removed first: the sets
  // only grow then.
  double parted_at(const Order& order) const {
    const std::size_t count = order.list.size();
    Components sets(graph_.routers());
    std::vector<bool> present(graph_.routers(), true);
    std::vector<std::uint32_t> in_plane(graph_.routers(), 0);  // routers with endpoints that are present
    std::uint32_t planes = 0;
    const auto appear = [&](std::uint32_t v) {
      if (graph_.hosts[v] == 0) return;
      sets.count(v);
      planes += in_plane[plane_[v]]++ == 0;
    };
    if (!order.of_links) {
      for (const std::uint32_t s : order.list) present[switches_[s]] = false;
    }
    for (std::uint32_t v = 0; v < graph_.routers(); ++v) {
      if (present[v]) appear(v);
    }
    if (!order.of_links) {
      for (const auto& [a, b] : links_) {
        if (present[a] && present[b]) sets.join(a, b);
      }
    }
    // The fewest removals after which the sets are more than the planes that still have endpoints.
    std::size_t fewest = sets.held() > planes ? count : count + 1;
    for (std::size_t removed = count; removed-- > 0;) {
      if (order.of_links) {
        const auto& [a, b] = links_[order.list[removed]];
        sets.join(a, b);
      } else {
        const std::uint32_t v = switches_[order.list[removed]];
        present[v] = true;
        appear(v);
        for (std::uint32_t a = graph_.begin[v]; a < graph_.begin[v + 1]; ++a) {
          if (present[graph_.to[a]]) sets.join(v, graph_.to[a]);
        }
      }
      if (sets.held() > planes) fewest = removed;
    }
    if (fewest > count || count == 0) return 1;
    return static_cast<double>(fewest) / static_cast<double>(count);
  }

  // Adds what a trial looks like after `share` of its removals.
  void add(const Order& order, double share, Damage& damage, bool& sampled) const {
    const auto gone = static_cast<std::size_t>(std::llround(share * static_cast<double>(order.list.size())));
    std::vector<bool> present(graph_.routers(), true);
    std::vector<Pair> left;
    if (order.of_links) {
      for (std::size_t i = gone; i < order.list.size(); ++i) left.push_back(links_[order.list[i]]);
    } else {
      for (std::size_t i = 0; i < gone; ++i) present[switches_[order.list[i]]] = false;
      for (const Pair& link : links_) {
        if (present[link.first] && present[link.second]) left.push_back(link);
      }
    }
    ArcGraph rest;
    rest.begin.assign(graph_.routers() + 1, 0);
    for (const auto& [a, b] : left) {
      ++rest.begin[a + 1];
      ++rest.begin[b + 1];
    }
    std::partial_sum(rest.begin.begin(), rest.begin.end(), rest.begin.begin());
    std::vector<std::uint32_t> next(rest.begin.begin(), rest.begin.end() - 1);
    rest.to.resize(2 * left.size());
    for (const auto& [a, b] : left) {
      rest.to[next[a]++] = b;
      rest.to[next[b]++] = a;
    }
    std::vector<std::uint32_t> among;
    for (std::uint32_t v = 0; v < graph_.routers(); ++v) {
      if (present[v] && graph_.hosts[v] > 0) among.push_back(v);
    }
    const DistanceSummary hops = distance_summary(rest, among, options_.most_sources, options_.seed);
    damage.diameter += hops.diameter;
    damage.average += hops.average;
    sampled = sampled || hops.sampled;
  }

 private:
  const RouterGraph& graph_;
  const ResilienceOptions& options_;
  std::vector<Pair> links_;
  std::vector<std::uint32_t> switches_;
  std::vector<std::uint32_t> plane_;  // by router
};

}  // namespace

Resilience resilience(const RouterGraph& graph, const ResilienceOptions& options) {
  Resilience result;
  result.trials = options.trials;
  const Trials trials(graph, options);
  for (const bool of_links : {true, false}) {
    std::vector<Damage>& damages = of_links ? result.links : result.switches;
    double least = 1, sum = 0;
    for (const double share : options.shares) damages.push_back({share});
    for (std::uint32_t t = 0; t < options.trials; ++t) {
      const Order order = trials.order(of_links, t);
      const double parted = trials.parted_at(order);
      least = std::min(least, parted);
      sum += parted;
      for (Damage& damage : damages) {
        trials.add(order, damage.removed, damage, result.sampled);
        const auto count = static_cast<double>(order.list.size());
        damage.connected +=
            std::llround(damage.removed * count) < std::llround(parted * count) || parted == 1;
      }
    }
    if (options.trials == 0) continue;
    for (Damage& damage : damages) {
      damage.diameter /= options.trials;
      damage.average /= options.trials;
      damage.connected /= options.trials;
    }
    (of_links ? result.links_least : result.switches_least) = least;
    (of_links ? result.links_mean : result.switches_mean) = sum / options.trials;
  }
  return result;
}

}  // namespace weft::topologies
