#include "topologies/analysis/demands.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/units/input_error.h"
#include "sim/units/random.h"
#include "topologies/analysis/assignment.h"
#include "topologies/analysis/distances.h"

namespace weft::topologies {
namespace {

// Collects what hosts send; then scales it so that the busiest host is just full.
class HostDemands {
 public:
  explicit HostDemands(const RouterGraph& graph)
      : graph_(graph), sent_(graph.endpoints(), 0), received_(graph.endpoints(), 0) {}

  HostDemands(const RouterGraph& graph, const HostTraffic& traffic) : HostDemands(graph) {
    for (const MatrixEntry& entry : traffic.entries) add(entry.from, entry.to, entry.weight);
  }

  void add(std::uint32_t from, std::uint32_t to, double rate) {
    sent_[from] += rate;
    received_[to] += rate;
    const std::uint32_t s = graph_.terminal_of[from], t = graph_.terminal_of[to];
    if (s != t) entries_.push_back({s, {t, rate}});
  }

  // Returns what the busiest host sends or receives, as a share of its rate.
  double most() const {
    double most = 0;
    for (std::uint32_t h = 0; h < graph_.endpoints(); ++h) {
      most = std::max(most, std::max(sent_[h], received_[h]) / graph_.host_rate[h]);
    }
    return most;
  }

  Demands finish(std::string name) {
    const double most = this->most();
    Demands demands = Demands::sparse(std::move(name), static_cast<std::uint32_t>(graph_.terminals.size()),
                                      std::move(entries_));
    if (most > 0) demands.scale(1 / most);
    return demands;
  }

 private:
  const RouterGraph& graph_;
  std::vector<double> sent_, received_;
  std::vector<std::pair<std::uint32_t, Demands::Entry>> entries_;
};

HostTraffic scaled(const RouterGraph& graph, HostTraffic traffic) {
  const double most = HostDemands(graph, traffic).most();
  for (MatrixEntry& entry : traffic.entries) entry.weight /= most > 0 ? most : 1;
  return traffic;
}

std::vector<std::uint32_t> shuffled(std::uint32_t count, RandomStream& random) {
  std::vector<std::uint32_t> list(count);
  std::iota(list.begin(), list.end(), 0u);
  for (std::uint32_t i = count; i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
  return list;
}

// Hops between terminals, from the first router of the one to the first of the other and two more where
// either has several.
std::vector<std::uint8_t> terminal_distances(const FlowNetwork& network, std::uint32_t terminal) {
  std::vector<std::uint8_t> row;
  visit_distances(
      network, {&network.vertex_of[terminal], 1},
      [&](std::uint32_t, std::span<const std::uint8_t> hops) {
        for (const std::uint32_t v : network.vertex_of) row.push_back(hops[v] == kUnreachable ? 0 : hops[v]);
      },
      network.routers);
  return row;
}

}  // namespace

Demands Demands::product(std::string name, std::vector<double> weight) {
  Demands demands;
  demands.name_ = std::move(name);
  demands.terminals_ = static_cast<std::uint32_t>(weight.size());
  demands.weight_ = std::move(weight);
  return demands;
}

Demands Demands::sparse(std::string name, std::uint32_t terminals,
                        std::vector<std::pair<std::uint32_t, Entry>> entries) {
  Demands demands;
  demands.name_ = std::move(name);
  demands.terminals_ = terminals;
  demands.rows_.resize(terminals);
  demands.columns_.resize(terminals);
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second.terminal) < std::pair(b.first, b.second.terminal);
  });
  for (const auto& [s, entry] : entries) {
    if (entry.rate == 0) continue;
    std::vector<Entry>&row = demands.rows_[s], &column = demands.columns_[entry.terminal];
    if (!row.empty() && row.back().terminal == entry.terminal) {
      row.back().rate += entry.rate;
      column.back().rate += entry.rate;
      continue;
    }
    row.push_back(entry);
    column.push_back({s, entry.rate});
  }
  return demands;
}

void Demands::scale(double factor) { factor_ *= factor; }

void Demands::list(std::uint32_t at, const Lists& lists, std::vector<Entry>& entries) const {
  entries.clear();
  if (!lists.empty()) {
    entries = lists[at];
    for (Entry& entry : entries) entry.rate *= factor_;
    return;
  }
  const double own = weight_[at] * factor_;
  for (std::uint32_t t = 0; t < terminals_; ++t) {
    if (t != at && own * weight_[t] > 0) entries.push_back({t, own * weight_[t]});
  }
}

Demands uniform_demands(const RouterGraph& graph) {
  std::vector<double> weight;
  for (const Terminal& terminal : graph.terminals) weight.push_back(terminal.rate);
  // A host with rate r sends r·(all - r) and receives as much; the busiest is the slowest host.
  const double all = std::accumulate(graph.host_rate.begin(), graph.host_rate.end(), 0.0);
  const double slowest = *std::min_element(graph.host_rate.begin(), graph.host_rate.end());
  Demands demands = Demands::product("uniform", std::move(weight));
  if (all > slowest) demands.scale(1 / (all - slowest));
  return demands;
}

namespace {

// Not scaled.
HostTraffic permutation(const RouterGraph& graph, std::uint64_t seed) {
  RandomStream random(seed, 0, 3);
  HostTraffic traffic{.name = "permutation", .weight = {}, .entries = {}};
  const std::uint32_t hosts = graph.endpoints();
  // One cycle through all hosts in random order: no host is its own partner.
  const std::vector<std::uint32_t> order = shuffled(hosts, random);
  for (std::uint32_t i = 0; i < hosts && hosts > 1; ++i) {
    const std::uint32_t from = order[i], to = order[(i + 1) % hosts];
    traffic.entries.push_back({from, to, std::min(graph.host_rate[from], graph.host_rate[to])});
  }
  return traffic;
}

HostTraffic matrix_entries(const RouterGraph& graph, const std::string& name,
                           const std::vector<MatrixEntry>& matrix) {
  HostTraffic traffic{.name = name, .weight = {}, .entries = {}};
  for (const MatrixEntry& entry : matrix) {
    const std::uint32_t highest = std::max(entry.from, entry.to);
    if (highest >= graph.endpoints()) {
      throw InputError(fmt::format("{}: endpoint {}, but the network has {} (0 to {})", name, highest,
                                   graph.endpoints(), graph.endpoints() - 1));
    }
    if (entry.from != entry.to && entry.weight > 0) traffic.entries.push_back(entry);
  }
  if (traffic.entries.empty()) {
    throw InputError(name + ": nothing is sent from one endpoint to another");
  }
  return traffic;
}

}  // namespace

Demands permutation_demands(const RouterGraph& graph, std::uint64_t seed) {
  return HostDemands(graph, permutation(graph, seed)).finish("permutation");
}

Matching longest_matching(const RouterGraph& graph, std::uint64_t seed) {
  const auto count = static_cast<std::uint32_t>(graph.terminals.size());
  const FlowNetwork network = flow_network(graph);
  Matching matching;
  std::vector<std::uint32_t> partner(count);
  double total = 0;
  if (count <= kMostMatched) {
    std::vector<std::uint8_t> value;
    for (std::uint32_t t = 0; t < count; ++t) {
      const std::vector<std::uint8_t> row = terminal_distances(network, t);
      value.insert(value.end(), row.begin(), row.end());
    }
    partner = best_assignment(value, count);
    for (std::uint32_t t = 0; t < count; ++t) total += value[t * std::size_t{count} + partner[t]];
  } else {
    matching.exact = false;
    RandomStream random(seed, 0, 4);
    std::vector<bool> taken(count, false);
    for (const std::uint32_t t : shuffled(count, random)) {
      const std::vector<std::uint8_t> row = terminal_distances(network, t);
      std::uint32_t best = count;
      for (std::uint32_t u = 0; u < count; ++u) {
        if (!taken[u] && (best == count || row[u] > row[best])) best = u;
      }
      taken[best] = true;
      partner[t] = best;
      total += row[best];
    }
  }
  std::vector<std::pair<std::uint32_t, Demands::Entry>> entries;
  for (std::uint32_t t = 0; t < count; ++t) {
    if (partner[t] == t) continue;
    const double rate = std::min(graph.terminals[t].rate, graph.terminals[partner[t]].rate);
    entries.push_back({t, {partner[t], rate}});
  }
  matching.demands = Demands::sparse("longest-matching", count, std::move(entries));
  matching.mean_distance = total / count;
  return matching;
}

Demands matrix_demands(const RouterGraph& graph, const std::string& name,
                       const std::vector<MatrixEntry>& matrix) {
  return HostDemands(graph, matrix_entries(graph, name, matrix)).finish(name);
}

Demands terminal_demands(const RouterGraph& graph, const HostTraffic& traffic) {
  if (!traffic.weight.empty()) {
    std::vector<double> weight(graph.terminals.size());
    for (std::uint32_t h = 0; h < graph.endpoints(); ++h) weight[graph.terminal_of[h]] += traffic.weight[h];
    return Demands::product(traffic.name, std::move(weight));
  }
  std::vector<std::pair<std::uint32_t, Demands::Entry>> entries;
  for (const MatrixEntry& entry : traffic.entries) {
    const std::uint32_t s = graph.terminal_of[entry.from], t = graph.terminal_of[entry.to];
    if (s != t) entries.push_back({s, {t, entry.weight}});
  }
  return Demands::sparse(traffic.name, static_cast<std::uint32_t>(graph.terminals.size()),
                         std::move(entries));
}

HostTraffic uniform_traffic(const RouterGraph& graph) {
  HostTraffic traffic{.name = "uniform", .weight = graph.host_rate, .entries = {}};
  const double all = std::accumulate(traffic.weight.begin(), traffic.weight.end(), 0.0);
  const double slowest = *std::min_element(traffic.weight.begin(), traffic.weight.end());
  const double factor = all > slowest ? std::sqrt(1 / (all - slowest)) : 1;
  for (double& weight : traffic.weight) weight *= factor;
  return traffic;
}

HostTraffic permutation_traffic(const RouterGraph& graph, std::uint64_t seed) {
  return scaled(graph, permutation(graph, seed));
}

HostTraffic matching_traffic(const RouterGraph& graph, std::uint64_t seed) {
  HostTraffic traffic{.name = "longest-matching", .weight = {}, .entries = {}};
  const Demands demands = longest_matching(graph, seed).demands;
  std::vector<std::vector<std::uint32_t>> hosts(graph.terminals.size());
  for (std::uint32_t h = 0; h < graph.endpoints(); ++h) hosts[graph.terminal_of[h]].push_back(h);
  std::vector<Demands::Entry> entries;
  for (std::uint32_t t = 0; t < hosts.size(); ++t) {
    demands.from(t, entries);
    for (const Demands::Entry& entry : entries) {
      const std::vector<std::uint32_t>&from = hosts[t], &to = hosts[entry.terminal];
      const std::size_t pairs = std::max(from.size(), to.size());
      for (std::size_t i = 0; i < pairs; ++i) {
        traffic.entries.push_back(
            {from[i % from.size()], to[i % to.size()], entry.rate / static_cast<double>(pairs)});
      }
    }
  }
  return scaled(graph, std::move(traffic));
}

HostTraffic matrix_traffic(const RouterGraph& graph, const std::string& name,
                           const std::vector<MatrixEntry>& matrix) {
  return scaled(graph, matrix_entries(graph, name, matrix));
}

}  // namespace weft::topologies
