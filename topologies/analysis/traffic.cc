#include "topologies/analysis/traffic.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "sim/units/input_error.h"

namespace weft::topologies {
namespace {

// Links looked at in one estimate: some 0.2 s of work.
constexpr std::uint64_t kMostVisits = 40'000'000;
constexpr std::uint64_t kFewestSources = 8;

std::vector<double> checked_loads(const Topology& topology, std::span<const double> host_load) {
  if (!host_load.empty() && host_load.size() != topology.hosts()) {
    throw InputError(
        fmt::format("{}: {} host loads for {} hosts", topology.name(), host_load.size(), topology.hosts()));
  }
  for (std::size_t h = 0; h < host_load.size(); ++h) {
    if (std::isfinite(host_load[h]) && host_load[h] >= 0) continue;
    throw InputError(
        fmt::format("{}: the load of host {} is {}; it must be 0 or more", topology.name(), h, host_load[h]));
  }
  const double most = host_load.empty() ? 0 : *std::max_element(host_load.begin(), host_load.end());
  if (most == 0) return std::vector<double>(topology.hosts(), 1.0);
  std::vector<double> loads(host_load.begin(), host_load.end());
  for (double& load : loads) load /= most;  // first, so that the sum is finite
  const double total = std::accumulate(loads.begin(), loads.end(), 0.0);
  for (double& load : loads) load *= topology.hosts() / total;
  return loads;
}

// The switch that all of a host's links lead to, or the host itself if there is none such.
Vertex home(const Topology& topology, Vertex host) {
  const auto out = topology.out_channels(host);
  const std::uint32_t first = topology.channels()[out[0]].to;
  if (topology.node(first).kind != NodeKind::kSwitch) return host;
  for (const std::uint32_t c : out) {
    if (topology.channels()[c].to != first) return host;
  }
  return first;
}

// Spreads traffic over shortest paths, source by source, as in U. Brandes, A faster algorithm for betweenness
// centrality, J. Mathematical Sociology 25(2), 2001. Traffic begins and ends at terminals: switches, for all
// hosts that have links to no other, and hosts with several switches. Hosts forward nothing.
class Spreader {
 public:
  Spreader(const Topology& topology, const std::vector<double>& loads, ExpectedTraffic& result)
      : topology_(topology), result_(result), terminal_load_(topology.nodes()) {
    std::vector<bool> at_home(topology.nodes(), false);
    for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
      const Vertex host = topology.host(h), switch_of = home(topology, host);
      terminal_load_[switch_of] += loads[h];
      total_ += loads[h];
      if (switch_of == host) continue;
      at_home[host] = true;
      const auto out = topology.out_channels(host);
      for (const std::uint32_t c : out) result.link[c / 2] += loads[h] / static_cast<double>(out.size());
    }
    // What is left of the network, packed.
    begin_.assign(topology.nodes() + 1, 0);
    for (Vertex v = 0; v < topology.nodes(); ++v) {
      for (const std::uint32_t c : topology.out_channels(v)) {
        const std::uint32_t to = topology.channels()[c].to;
        if (!at_home[v] && !at_home[to]) arcs_.push_back({to, c / 2});
      }
      begin_[v + 1] = static_cast<std::uint32_t>(arcs_.size());
    }
    level_.resize(topology.nodes());
    paths_.resize(topology.nodes());
    flow_.assign(topology.nodes(), 0);
  }

  void run() {
    std::vector<std::uint32_t> sources;
    for (std::uint32_t v = 0; v < topology_.nodes(); ++v) {
      if (terminal_load_[v] > 0) sources.push_back(v);
    }
    search(sources[0]);
    const std::uint64_t visits_each = (levels() + 2) * (arcs_.size() + 1);
    const std::uint64_t count = std::max(kMostVisits / visits_each, kFewestSources);
    if (sources.size() <= count) {
      for (const std::uint32_t s : sources) spread(s, terminal_load_[s]);
      return;
    }
    // Evenly spaced in the traffic, so that a source is as likely followed as its load is large.
    const double share = total_ / static_cast<double>(count);
    double next = share / 2, before = 0;
    for (const std::uint32_t s : sources) {
      before += terminal_load_[s];
      double amount = 0;
      for (; next < before; next += share) amount += share;
      if (amount > 0) spread(s, amount);
    }
  }

 private:
  struct Arc {
    std::uint32_t to, link;
  };

  std::uint32_t levels() const { return static_cast<std::uint32_t>(level_begin_.size()) - 1; }
  std::span<const Arc> arcs(std::uint32_t v) const {
    return {arcs_.data() + begin_[v], arcs_.data() + begin_[v + 1]};
  }
  std::span<const std::uint32_t> at_level(std::uint32_t level) const {
    return {order_.data() + level_begin_[level], order_.data() + level_begin_[level + 1]};
  }

  // Breadth first from `source`: distances, and the number of shortest paths to each node.
  void search(std::uint32_t source) {
    std::fill(level_.begin(), level_.end(), kFar);
    level_[source] = 0;
    paths_[source] = 1;
    order_.assign(1, source);
    level_begin_.assign(1, 0);
    for (std::uint32_t at = 0, depth = 0; at < order_.size(); ++depth) {
      const auto end = static_cast<std::uint32_t>(order_.size());
      level_begin_.push_back(end);
      for (; at < end; ++at) {
        const std::uint32_t v = order_[at];
        if (v != source && topology_.node(v).kind == NodeKind::kHost) continue;
        for (const Arc arc : arcs(v)) {
          if (level_[arc.to] == kFar) {
            level_[arc.to] = depth + 1;
            paths_[arc.to] = 0;
            order_.push_back(arc.to);
          }
          if (level_[arc.to] == depth + 1) paths_[arc.to] += paths_[v];
        }
      }
    }
  }

  // Adds `amount` of traffic from `source` to all terminals. Only the half of each path that is next to its
  // end is counted, twice: the other half is the same path the other way round. The sum over all sources is
  // the same, and a sum over some sources is much nearer to it, for every terminal takes part as an end.
  void spread(std::uint32_t source, double amount) {
    search(source);
    for (std::uint32_t distance = 0; distance < levels(); ++distance) {
      for (const std::uint32_t v : at_level(distance)) flow_[v] = amount * terminal_load_[v] / (2 * total_);
      for (std::uint32_t level = distance;; --level) {
        const double at_node = counted(2 * level, distance);
        if (at_node == 0) {
          for (const std::uint32_t v : at_level(level)) flow_[v] = 0;
          break;
        }
        const double on_link = level == 0 ? 0 : counted(2 * level - 1, distance);
        for (const std::uint32_t v : at_level(level)) {
          const double flow = flow_[v];
          if (flow == 0) continue;
          flow_[v] = 0;
          result_.node[v] += at_node * flow;
          if (on_link > 0) step_back(v, flow, on_link, source);
        }
        if (level == 0) break;
      }
    }
  }

  void step_back(std::uint32_t v, double flow, double on_link, std::uint32_t source) {
    for (const Arc arc : arcs(v)) {
      if (level_[arc.to] + 1 != level_[v]) continue;
      if (arc.to != source && topology_.node(arc.to).kind == NodeKind::kHost) continue;
      const double share = flow * paths_[arc.to] / paths_[v];
      result_.link[arc.link] += on_link * share;
      flow_[arc.to] += share;
    }
  }

  // How often a place `half_hops` / 2 from the source counts on a path of `distance` hops.
  static double counted(std::uint32_t half_hops, std::uint32_t distance) {
    return half_hops > distance ? 2 : half_hops == distance ? 1 : 0;
  }

  static constexpr std::uint32_t kFar = ~std::uint32_t{0} - 1;
  const Topology& topology_;
  ExpectedTraffic& result_;
  std::vector<double> terminal_load_;
  double total_ = 0;
  std::vector<std::uint32_t> begin_;
  std::vector<Arc> arcs_;
  // These belong to the source that is spread at present.
  std::vector<std::uint32_t> level_, order_, level_begin_;
  std::vector<double> paths_, flow_;
};

}  // namespace

ExpectedTraffic expected_traffic(const Topology& topology, std::span<const double> host_load) {
  const std::vector<double> loads = checked_loads(topology, host_load);
  ExpectedTraffic result{std::vector<double>(topology.nodes()),
                         std::vector<double>(topology.channels().size() / 2)};
  Spreader(topology, loads, result).run();
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) result.node[topology.host(h)] = loads[h];
  return result;
}

}  // namespace weft::topologies
