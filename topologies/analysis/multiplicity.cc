#include "topologies/analysis/multiplicity.h"

#include <algorithm>
#include <vector>

#include "topologies/analysis/distances.h"

namespace weft::topologies {

std::uint64_t Multiplicity::all_pairs() const {
  std::uint64_t sum = 0;
  for (const auto& [paths, count] : pairs) sum += count;
  return sum;
}

Multiplicity multiplicity(const RouterGraph& graph, std::uint64_t most_sources, std::uint64_t seed) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
  Multiplicity result;
  const std::vector<std::uint32_t> among = graph.endpoint_routers();
  const std::vector<std::uint32_t> sources = sample(among, most_sources, seed, 1);
  result.sources = sources.size();
  result.sampled = sources.size() < among.size();
  constexpr std::uint32_t kFar = ~std::uint32_t{0};
  std::vector<std::uint32_t> hops(graph.routers()), order;
  std::vector<std::uint64_t> paths(graph.routers());
  double sum = 0;
  std::uint64_t count = 0;
  for (const std::uint32_t source : sources) {
    std::fill(hops.begin(), hops.end(), kFar);
    hops[source] = 0;
    paths[source] = 1;
    order.assign(1, source);
    for (std::size_t at = 0; at < order.size(); ++at) {
      const std::uint32_t v = order[at];
      for (std::uint32_t a = graph.begin[v]; a < graph.begin[v + 1]; ++a) {
        const std::uint32_t u = graph.to[a];
        if (hops[u] == kFar) {
          hops[u] = hops[v] + 1;
          paths[u] = 0;
          order.push_back(u);
        }
        if (hops[u] != hops[v] + 1) continue;
        const unsigned __int128 more = static_cast<unsigned __int128>(paths[v]) * graph.links[a] + paths[u];
        paths[u] = more < kMost ? static_cast<std::uint64_t>(more) : kMost;
      }
    }
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (graph.hosts[order[i]] == 0) continue;
      ++result.pairs[paths[order[i]]];
      sum += static_cast<double>(paths[order[i]]);
      ++count;
    }
  }
  result.mean = count == 0 ? 0 : sum / static_cast<double>(count);
  return result;
}

}  // namespace weft::topologies
