#include "sim/flow/flow_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::sim::flow {
namespace {

using routing::FluidPaths;
using topologies::Topology;

// Links of a shortest path from the first host to another, on the average.
double mean_hops(const Topology& topology) {
  std::vector<std::uint32_t> hops(topology.nodes(), UINT32_MAX);
  std::vector<std::uint32_t> row = {static_cast<std::uint32_t>(topology.host(0))};
  hops[row.front()] = 0;
  double sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (topology.node(row[i]).kind == topologies::NodeKind::kHost) sum += hops[row[i]];
    for (const std::uint32_t c : topology.out_channels(row[i])) {
      const std::uint32_t next = topology.channels()[c].to;
      if (hops[next] != UINT32_MAX) continue;
      hops[next] = hops[row[i]] + 1;
      row.push_back(next);
    }
  }
  return sum / std::max<double>(topology.hosts() - 1.0, 1);
}

// Its state, and for each link of its path what the solver keeps of both. Sprayed, links that are loaded
// alike count as one. By way of any node it is on links to and from all of them.
double bytes_of_message(const Topology& topology, const routing::Policy& policy) {
  constexpr double kOfMessage = 400, kOfLink = 120;
  constexpr double kSprayed = 600, kOfLinkSprayed = 60;
  constexpr double kLinksOfNode = 2.5, kOfLinkAround = 44;
  const bool even = policy.fluid == FluidPaths::kEven || policy.fluid == FluidPaths::kAround;
  if (even) return kSprayed + kOfLinkSprayed * mean_hops(topology);
  if (policy.fluid == FluidPaths::kModel && policy.longest_path > 1) {
    return kOfMessage + kLinksOfNode * kOfLinkAround * topology.switches();
  }
  return kOfMessage + kOfLink * mean_hops(topology);
}

// Those between which detours are balanced: what is inside machines of several accelerators is left out.
double balanced_switches(const Topology& topology) {
  double switches = 0;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    if (topology.node(topology.switch_at(s)).domain == topologies::kNoDomain) ++switches;
  }
  return switches;
}

}  // namespace

MemoryForecast forecast_memory(const ModelRun& run, const routing::Policy& policy) {
  constexpr double kOfRun = 5e6, kOfChannel = 224, kOfLinkRow = 200, kOfPair = 20, kOfWaysAround = 300;
  const Topology& topology = run.fabric->topology;
  const auto channels = static_cast<double>(topology.channels().size());
  MemoryForecast forecast{.network = kOfRun + channels * kOfChannel, .results = channels * kOfLinkRow};
  if (policy.fluid == FluidPaths::kBalanced) {
    const double switches = balanced_switches(topology);
    forecast.network += kOfWaysAround * switches * switches;
  }
  add_jobs(run, sizes_of(bytes_of_message(topology, policy), kOfPair), run.keeps_flow_rows, forecast);
  return forecast;
}

}  // namespace weft::sim::flow
