#include "topologies/analysis/edge_load.h"

#include <algorithm>
#include <numeric>

#include "topologies/analysis/distances.h"

namespace weft::topologies {

EdgeLoad edge_load(const FlowNetwork& network, const Demands& demands, std::uint64_t most_destinations,
                   std::uint64_t seed) {
  EdgeLoad result;
  result.arc.assign(network.arcs(), 0);
  std::vector<std::uint32_t> all(demands.terminals());
  std::iota(all.begin(), all.end(), 0u);
  const std::vector<std::uint32_t> followed = sample(all, most_destinations, seed, 5);
  result.destinations = followed.size();
  result.sampled = followed.size() < all.size();

  constexpr std::uint32_t kFar = ~std::uint32_t{0};
  std::vector<std::uint32_t> hops(network.vertices()), order;
  std::vector<double> amount(network.vertices(), 0);
  std::vector<Demands::Entry> entries;
  for (const std::uint32_t t : followed) {
    demands.to(t, entries);
    if (entries.empty()) continue;
    const std::uint32_t target = network.vertex_of[t];
    std::fill(hops.begin(), hops.end(), kFar);
    hops[target] = 0;
    order.assign(1, target);
    for (std::size_t at = 0; at < order.size(); ++at) {
      const std::uint32_t v = order[at];
      if (v >= network.routers && v != target) continue;
      for (std::uint32_t a = network.begin[v]; a < network.begin[v + 1]; ++a) {
        if (hops[network.to[a]] != kFar) continue;
        hops[network.to[a]] = hops[v] + 1;
        order.push_back(network.to[a]);
      }
    }
    for (const Demands::Entry& entry : entries) amount[network.vertex_of[entry.terminal]] = entry.rate;
    for (std::size_t i = order.size(); i-- > 1;) {
      const std::uint32_t v = order[i];
      if (amount[v] == 0) continue;
      const auto nearer = [&](std::uint32_t a) {
        const std::uint32_t u = network.to[a];
        return hops[u] + 1 == hops[v] && (u < network.routers || u == target);
      };
      double ways = 0;
      for (std::uint32_t a = network.begin[v]; a < network.begin[v + 1]; ++a) {
        if (nearer(a)) ways += network.links[a];
      }
      for (std::uint32_t a = network.begin[v]; a < network.begin[v + 1]; ++a) {
        if (!nearer(a)) continue;
        const double share = amount[v] * network.links[a] / ways;
        result.arc[a] += share;
        amount[network.to[a]] += share;
      }
    }
    for (const Demands::Entry& entry : entries) amount[network.vertex_of[entry.terminal]] = 0;
    for (const std::uint32_t v : order) amount[v] = 0;
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
