#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/placement/policies/mapping.h"
#include "sim/placement/policies/nodes.h"
#include "sim/units/random.h"

namespace weft::placement {
namespace {

// The temperature falls to this part: from where most exchanges are taken to where none is that makes things
// worse.
constexpr double kColdest = 1e-3;
constexpr std::uint64_t kStepsPerTemperature = 64;
constexpr std::uint32_t kNear = 8;                   // hosts that one may go to beside a partner's
constexpr std::uint64_t kMostDescent = 100'000'000;  // partners looked at in a round

class Annealing {
 public:
  Annealing(const TalkGraph& graph, const HostDistances& distances, std::uint64_t seed, Mapping& mapping)
      : graph_(graph), distances_(distances), draw_(seed, 0, kMatrixPurpose), mapping_(mapping) {
    hosts_ = mapping;
    slot_.resize(hosts_.size());
    std::iota(slot_.begin(), slot_.end(), 0U);
    vertex_on_ = slot_;
    find_nearest();
  }

  void run(std::uint64_t steps) {
    Mapping best = mapping_;
    double cost = hop_bytes(graph_, distances_, mapping_), least = cost;
    const double hottest = mean_change();
    double temperature = hottest;
    for (std::uint64_t step = 0; step < steps && hottest > 0; ++step) {
      if (step % kStepsPerTemperature == 0) {
        temperature = hottest * std::pow(kColdest, static_cast<double>(step) / static_cast<double>(steps));
      }
      const auto [a, b] = draw_near_pair();
      const double change = change_of(a, b);
      if (change > 0 && draw_.uniform() >= std::exp(-change / temperature)) continue;
      exchange(a, b);
      cost += change;
      if (cost < least) {
        least = cost;
        best = mapping_;
      }
    }
    mapping_ = best;
    descend();
  }

 private:
  void exchange(std::uint32_t a, std::uint32_t b) {
    std::swap(mapping_[a], mapping_[b]);
    std::swap(slot_[a], slot_[b]);
    std::swap(vertex_on_[slot_[a]], vertex_on_[slot_[b]]);
  }

  // Lists for each host the nearest others.
  void find_nearest() {
    const auto count = static_cast<std::uint32_t>(hosts_.size());
    near_each_ = std::min(kNear, count - 1);
    std::vector<std::uint32_t> others(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      std::iota(others.begin(), others.end(), 0U);
      std::swap(others[i], others.back());
      const auto end = others.end() - 1;
      std::nth_element(others.begin(), others.begin() + near_each_ - 1, end,
                       [&](std::uint32_t a, std::uint32_t b) {
                         return std::pair(distances_.hops(hosts_[i], hosts_[a]), a) <
                                std::pair(distances_.hops(hosts_[i], hosts_[b]), b);
                       });
      near_.insert(near_.end(), others.begin(), others.begin() + near_each_);
    }
  }

  // A vertex on one of the hosts nearest to that of v.
  std::uint32_t draw_near(std::uint32_t v) {
    return vertex_on_[near_[std::size_t{slot_[v]} * near_each_ + draw_.below(near_each_)]];
  }

  std::uint32_t draw_vertex() { return static_cast<std::uint32_t>(draw_.below(graph_.vertices())); }

  std::pair<std::uint32_t, std::uint32_t> draw_pair() {
    const std::uint32_t a = draw_vertex();
    std::uint32_t b = draw_vertex();
    while (b == a) b = draw_vertex();
    return {a, b};
  }

  // A vertex, and one whose host is among the nearest of a partner's.
  std::pair<std::uint32_t, std::uint32_t> draw_near_pair() {
    const std::uint32_t a = draw_vertex(), partners = graph_.begin[a + 1] - graph_.begin[a];
    if (partners == 0) return draw_pair();
    const std::uint32_t partner = graph_.to[graph_.begin[a] + draw_.below(partners)];
    const std::uint32_t b = draw_near(partner);
    return b == a ? draw_pair() : std::pair(a, b);
  }

  // Gives the change of the cost, if a and b changed places.
  double change_of(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t at_a = mapping_[a], at_b = mapping_[b];
    if (distances_.place_of(at_a) == distances_.place_of(at_b)) return 0;
    return move(a, b, at_a, at_b) + move(b, a, at_b, at_a);
  }
  double move(std::uint32_t v, std::uint32_t other, std::uint32_t from, std::uint32_t to) const {
    double change = 0;
    for (std::uint32_t e = graph_.begin[v]; e < graph_.begin[v + 1]; ++e) {
      if (graph_.to[e] == other) continue;
      const std::uint32_t at = mapping_[graph_.to[e]];
      change += graph_.bytes[e] * (static_cast<double>(distances_.hops(to, at)) - distances_.hops(from, at));
    }
    return change;
  }

  // Draws exchanges, and gives half the mean change of those that make things worse.
  double mean_change() {
    double sum = 0;
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < 256; ++i) {
      const auto [a, b] = draw_pair();
      const double change = change_of(a, b);
      if (change <= 0) continue;
      sum += change;
      ++count;
    }
    return count == 0 ? 0 : sum / count / 2;
  }

  // Exchanges each vertex with its partners' partners while that helps; dense jobs are left as they are.
  void descend() {
    constexpr int kMostRounds = 20;
    const std::uint64_t degree = graph_.to.size() / graph_.vertices() + 1;
    bool better = degree * degree * degree * graph_.vertices() < kMostDescent;
    for (int round = 0; round < kMostRounds && better; ++round) {
      better = false;
      for (std::uint32_t v = 0; v < graph_.vertices(); ++v) {
        for (std::uint32_t e = graph_.begin[v]; e < graph_.begin[v + 1]; ++e) {
          const std::uint32_t partner = graph_.to[e];
          for (std::uint32_t f = graph_.begin[partner]; f < graph_.begin[partner + 1]; ++f) {
            const std::uint32_t u = graph_.to[f];
            if (u == v || !(change_of(v, u) < -1e-9 * graph_.bytes[e])) continue;
            std::swap(mapping_[v], mapping_[u]);
            better = true;
          }
        }
      }
    }
  }

  const TalkGraph& graph_;
  const HostDistances& distances_;
  RandomStream draw_;
  Mapping& mapping_;
  // Hosts have slots: their places in the mapping as it was at first.
  Mapping hosts_;
  std::vector<std::uint32_t> slot_, vertex_on_;  // by vertex; by slot
  std::vector<std::uint32_t> near_;              // slots, near_each_ for each slot
  std::uint32_t near_each_ = 0;
};

}  // namespace

void anneal(const TalkGraph& graph, const HostDistances& distances, std::uint64_t steps, std::uint64_t seed,
            Mapping& mapping) {
  if (graph.vertices() < 2) return;
  Annealing(graph, distances, seed, mapping).run(steps);
}

}  // namespace weft::placement
