#include "topologies/analysis/bisection.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <queue>
#include <utility>

#include "topologies/analysis/metis.h"
#include "topologies/analysis/spectrum.h"

namespace weft::topologies {
namespace {

// Two sides of a network's vertices, and what crosses.
class Cut {
 public:
  Cut(const FlowNetwork& network, const std::vector<std::uint32_t>& weight, std::vector<std::uint32_t> side)
      : network_(network),
        weight_(weight),
        heaviest_(*std::max_element(weight.begin(), weight.end())),
        side_(std::move(side)) {}

  // Passes of moves, each of the vertex that takes most off the cut (or adds least), of which the best
  // balanced state is kept, until that is no better: what crosses falls with each pass but the last, and
  // there are so many splits only. Source: C. Fiduccia and R. Mattheyses, A linear-time heuristic for
  // improving network partitions, DAC 1982.
  void improve() {
    balance();
    if (rate(1) < rate(0)) {
      for (std::uint32_t& s : side_) s ^= 1;
    }
    for (double before = rate(); pass();) {
      const double now = rate();
      if (!(now < before)) return;
      before = now;
    }
  }

  double rate(std::uint32_t from = 0) const { return crossing(network_.rate, from); }
  std::uint64_t links() const { return static_cast<std::uint64_t>(crossing(network_.links, 0)); }
  std::uint32_t side(std::uint32_t vertex) const { return side_[vertex]; }
  std::uint32_t endpoints(std::uint32_t side) const {
    std::uint32_t sum = 0;
    for (std::uint32_t v = 0; v < side_.size(); ++v) sum += side_[v] == side ? weight_[v] : 0;
    return sum;
  }

 private:
  template <typename Weight>
  double crossing(const std::vector<Weight>& of_arc, std::uint32_t from) const {
    double sum = 0;
    for (std::uint32_t v = 0; v < side_.size(); ++v) {
      for (std::uint32_t a = network_.begin[v]; a < network_.begin[v + 1] && side_[v] == from; ++a) {
        if (side_[network_.to[a]] != from) sum += static_cast<double>(of_arc[a]);
      }
    }
    return sum;
  }

  // What a move of v takes off the cut, in bit/s from side 0 to side 1. Of a link with a vertex on the other
  // side that is the direction that crosses now; of one within the side, the direction that would.
  double gain(std::uint32_t v) const {
    double sum = 0;
    for (std::uint32_t a = network_.begin[v]; a < network_.begin[v + 1]; ++a) {
      const bool crosses = side_[network_.to[a]] != side_[v];
      const double rate = network_.rate[crosses == (side_[v] == 0) ? a : network_.reverse[a]];
      sum += crosses ? rate : -rate;
    }
    return sum;
  }

  std::int64_t difference() const { return std::int64_t{endpoints(0)} - endpoints(1); }
  std::int64_t after(std::int64_t difference, std::uint32_t v) const {
    return difference + (side_[v] == 0 ? -2 : 2) * std::int64_t{weight_[v]};
  }

  // Moves vertices from the larger side, the best first, until the sides differ by no more than a terminal.
  void balance() {
    for (std::int64_t d = difference(); std::abs(d) > heaviest_;) {
      const std::uint32_t large = d > 0 ? 0 : 1;
      std::uint32_t best = 0;
      double best_gain = 0;
      bool found = false;
      for (std::uint32_t v = 0; v < side_.size(); ++v) {
        if (side_[v] != large || weight_[v] == 0 || std::abs(after(d, v)) >= std::abs(d)) continue;
        const double g = gain(v);
        if (found && g <= best_gain) continue;
        best = v;
        best_gain = g;
        found = true;
      }
      if (!found) return;
      d = after(d, best);
      side_[best] ^= 1;
    }
  }

  bool pass() {
    using Entry = std::pair<double, std::uint32_t>;  // gain and vertex; outdated entries are passed over
    std::priority_queue<Entry> queue[2];             // by the side to leave
    std::vector<double> gains(side_.size());
    for (std::uint32_t v = 0; v < side_.size(); ++v) {
      gains[v] = gain(v);
      queue[side_[v]].push({gains[v], v});
    }
    std::vector<bool> moved(side_.size(), false);
    std::vector<std::uint32_t> moves;
    std::int64_t d = difference();
    double sum = 0, best = 1e-9 * (1 + std::abs(rate()));
    std::size_t best_moves = 0, since_best = 0;
    while (since_best < kPatience) {
      // The next move is the better one of both sides that keeps the sides within two terminals.
      const Entry* chosen = nullptr;
      for (auto& side : queue) {
        while (!side.empty() && (moved[side.top().second] || side.top().first != gains[side.top().second])) {
          side.pop();
        }
        if (side.empty() || std::abs(after(d, side.top().second)) > 2 * heaviest_) continue;
        if (chosen == nullptr || side.top() > *chosen) chosen = &side.top();
      }
      if (chosen == nullptr) break;
      const std::uint32_t v = chosen->second;
      d = after(d, v);
      sum += gains[v];
      moved[v] = true;
      side_[v] ^= 1;
      moves.push_back(v);
      for (std::uint32_t a = network_.begin[v]; a < network_.begin[v + 1]; ++a) {
        const std::uint32_t u = network_.to[a];
        if (moved[u]) continue;
        gains[u] = gain(u);
        queue[side_[u]].push({gains[u], u});
      }
      ++since_best;
      if (std::abs(d) <= heaviest_ && sum > best) {
        best = sum;
        best_moves = moves.size();
        since_best = 0;
      }
    }
    for (std::size_t i = best_moves; i < moves.size(); ++i) side_[moves[i]] ^= 1;
    return best_moves > 0;
  }

  static constexpr std::size_t kPatience = 500;  // moves without a new best
  const FlowNetwork& network_;
  const std::vector<std::uint32_t>& weight_;
  std::int64_t heaviest_;
  std::vector<std::uint32_t> side_;
};

// By arc, the rate of the slower direction: of a cut by these, either direction has as much or more.
std::vector<double> slower_rates(const FlowNetwork& network) {
  std::vector<double> rates(network.rate);
  for (std::uint32_t a = 0; a < network.arcs(); ++a) {
    rates[a] = std::min(rates[a], network.rate[network.reverse[a]]);
  }
  return rates;
}

// For METIS: rates as whole numbers, their sum far below 2^31.
WeightedGraph weighted(const FlowNetwork& network, const std::vector<double>& rates,
                       const std::vector<std::uint32_t>& weight) {
  WeightedGraph graph;
  const double slowest = *std::min_element(rates.begin(), rates.end());
  const double all = std::accumulate(rates.begin(), rates.end(), 0.0);
  bool whole = true;
  for (const double rate : rates) whole = whole && std::fmod(rate, slowest) == 0;
  const double unit = std::max(whole ? slowest : slowest / 100, all / 1e9);
  graph.vertex_weight.assign(weight.begin(), weight.end());
  graph.begin.assign(network.begin.begin(), network.begin.end());
  graph.to.assign(network.to.begin(), network.to.end());
  for (const double rate : rates) {
    graph.edge_weight.push_back(std::max(1, static_cast<std::int32_t>(std::lround(rate / unit))));
  }
  return graph;
}

// Half of the endpoints by their number; routers without any to the side where more of their links lead.
std::vector<std::uint32_t> by_number(const RouterGraph& graph, const FlowNetwork& network) {
  std::vector<std::uint32_t> side(network.vertices(), 2);
  std::uint32_t before = 0;
  for (std::size_t t = 0; t < graph.terminals.size(); ++t) {
    side[network.vertex_of[t]] = 2 * before + graph.terminals[t].hosts > graph.endpoints() ? 1 : 0;
    before += graph.terminals[t].hosts;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t v = 0; v < network.vertices(); ++v) {
      double to[3] = {0, 0, 0};
      for (std::uint32_t a = network.begin[v]; a < network.begin[v + 1]; ++a)
        to[side[network.to[a]]] += network.rate[a];
      if (side[v] != 2 || to[0] + to[1] == 0) continue;
      side[v] = to[0] >= to[1] ? 0 : 1;
      changed = true;
    }
  }
  for (std::uint32_t& s : side) s %= 2;
  return side;
}

// What the endpoints of the side that can send less can send, and what half of all can.
std::pair<double, double> can_send(const RouterGraph& graph, const FlowNetwork& network, const Cut& cut) {
  if (graph.leaving > 0) {
    const double each = graph.leaving / graph.endpoints();
    return {each * std::min(cut.endpoints(0), cut.endpoints(1)), graph.leaving / 2};
  }
  double sides[2] = {0, 0};
  for (std::size_t t = 0; t < graph.terminals.size(); ++t) {
    sides[cut.side(network.vertex_of[t])] += graph.terminals[t].rate;
  }
  return {std::min(sides[0], sides[1]), (sides[0] + sides[1]) / 2};
}

}  // namespace

Bisection bisection(const RouterGraph& graph, std::uint64_t seed) {
  const std::uint32_t seeds = graph.arcs() < 100'000 ? 8 : graph.arcs() < 1'000'000 ? 2 : 1;
  return bisection(graph, seeds, seed);
}

Bisection bisection(const RouterGraph& graph, std::uint32_t seeds, std::uint64_t seed) {
  Bisection result;
  if (graph.terminals.size() < 2) {
    result.switches = static_cast<std::uint32_t>(graph.terminals[0].ports.size());
    return result;
  }
  const FlowNetwork network = flow_network(graph);
  std::vector<std::uint32_t> weight(network.vertices(), 0);
  std::uint32_t most = 0, least = graph.endpoints();
  for (std::size_t t = 0; t < graph.terminals.size(); ++t) {
    weight[network.vertex_of[t]] = graph.terminals[t].hosts;
    most = std::max(most, graph.terminals[t].hosts);
    least = std::min(least, graph.terminals[t].hosts);
  }
  result.between_domains = graph.leaving > 0;
  const std::vector<double> rates = slower_rates(network);
  const WeightedGraph for_metis = weighted(network, rates, weight);
  for (std::uint32_t i = 0; i <= seeds; ++i) {
    Cut cut(network, weight, i == 0 ? by_number(graph, network) : bisect(for_metis, seed + i));
    cut.improve();
    const double rate = cut.rate();
    const auto [full, half] = can_send(graph, network, cut);
    if (i > 0 && rate / full >= result.share_of_full()) continue;
    result.rate = rate;
    result.full = full;
    result.half = half;
    result.back_rate = cut.rate(1);
    result.links = cut.links();
    result.side_of.clear();
    for (const std::uint32_t terminal : graph.terminal_of) {
      result.side_of.push_back(cut.side(network.vertex_of[terminal]) == 1);
    }
    for (std::uint32_t s : {0, 1}) result.side[s] = cut.endpoints(s);
  }
  // With sides that differ by d of N endpoints, the bound holds for N - d²/N of them.
  const double n = graph.endpoints();
  const bool even = most == least && graph.terminals.size() % 2 == 0;
  const double d = even ? 0 : most;
  const std::vector<double> vertex_weight(weight.begin(), weight.end());
  const double share = (n - d * d / n) / 4;
  result.least_rate = weighted_connectivity(network, rates, vertex_weight) * share;
  const std::vector<double> links(network.links.begin(), network.links.end());
  result.least_links = weighted_connectivity(network, links, vertex_weight) * share;
  return result;
}

}  // namespace weft::topologies
