#include "sim/placement/policies/mapping.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace weft::placement {

TalkGraph talk_graph(std::span<const Exchange> exchanges, std::span<const std::uint32_t> part,
                     std::uint32_t vertices) {
  std::vector<Exchange> both;
  for (const Exchange& each : exchanges) {
    const std::uint32_t from = part[each.from], to = part[each.to];
    if (from == to || !(each.bytes > 0)) continue;
    both.push_back({from, to, each.bytes});
    both.push_back({to, from, each.bytes});
  }
  std::stable_sort(both.begin(), both.end(), [](const Exchange& a, const Exchange& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  TalkGraph graph;
  graph.begin.assign(vertices + 1, 0);
  for (std::size_t i = 0; i < both.size(); ++i) {
    if (i > 0 && both[i].from == both[i - 1].from && both[i].to == both[i - 1].to) {
      graph.bytes.back() += both[i].bytes;
      continue;
    }
    graph.to.push_back(both[i].to);
    graph.bytes.push_back(both[i].bytes);
    ++graph.begin[both[i].from + 1];
  }
  for (std::uint32_t v = 0; v < vertices; ++v) graph.begin[v + 1] += graph.begin[v];
  return graph;
}

double hop_bytes(const TalkGraph& graph, const HostDistances& distances, const Mapping& mapping) {
  double sum = 0;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    for (std::uint32_t e = graph.begin[v]; e < graph.begin[v + 1]; ++e) {
      if (graph.to[e] > v) sum += graph.bytes[e] * distances.hops(mapping[v], mapping[graph.to[e]]);
    }
  }
  return sum;
}

namespace {

// What v costs on this host, by what is placed: kNowhere isn't.
constexpr std::uint32_t kNowhere = UINT32_MAX;
double cost_on(const TalkGraph& graph, const HostDistances& distances, const Mapping& mapping,
               std::uint32_t v, std::uint32_t host) {
  double cost = 0;
  for (std::uint32_t e = graph.begin[v]; e < graph.begin[v + 1]; ++e) {
    const std::uint32_t at = mapping[graph.to[e]];
    if (at != kNowhere) cost += graph.bytes[e] * distances.hops(host, at);
  }
  return cost;
}

}  // namespace

Mapping map_greedily(const TalkGraph& graph, const HostDistances& distances,
                     std::span<const std::uint32_t> hosts) {
  const std::uint32_t count = graph.vertices();
  Mapping mapping(count, kNowhere);
  // By what each sends to those placed, or in all before any is; the lowest number of equals.
  std::vector<double> all(count, 0), drawn(count, 0);
  for (std::uint32_t v = 0; v < count; ++v) {
    for (std::uint32_t e = graph.begin[v]; e < graph.begin[v + 1]; ++e) all[v] += graph.bytes[e];
  }
  const auto key = [&](std::uint32_t v) { return std::tuple(-drawn[v], -all[v], v); };
  std::set<std::tuple<double, double, std::uint32_t>> waiting;
  for (std::uint32_t v = 0; v < count; ++v) waiting.insert(key(v));
  std::vector<std::uint32_t> free(hosts.begin(), hosts.end());
  while (!waiting.empty()) {
    const std::uint32_t v = std::get<2>(*waiting.begin());
    waiting.erase(waiting.begin());
    std::size_t best = 0;
    double least = 0;
    for (std::size_t i = 0; i < free.size(); ++i) {
      // Hosts of the place just looked at cost the same.
      if (i > 0 && distances.place_of(free[i]) == distances.place_of(free[i - 1])) continue;
      const double cost = cost_on(graph, distances, mapping, v, free[i]);
      if (i == 0 || cost < least) {
        best = i;
        least = cost;
      }
      if (drawn[v] == 0) break;
    }
    mapping[v] = free[best];
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(best));
    for (std::uint32_t e = graph.begin[v]; e < graph.begin[v + 1]; ++e) {
      const std::uint32_t u = graph.to[e];
      if (mapping[u] != kNowhere) continue;
      waiting.erase(key(u));
      drawn[u] += graph.bytes[e];
      waiting.insert(key(u));
    }
  }
  return mapping;
}

}  // namespace weft::placement
