#include "sim/routing/parts/port_rates.h"

namespace weft::routing {

void share_by_rates(const topologies::Topology& topology, std::span<const double> rate_shares,
                    std::span<PathStep> steps) {
  double sum = 0;
  for (PathStep& step : steps) {
    const auto built = static_cast<double>(topology.channels()[step.channel].rate.bps());
    step.share = rate_shares.empty() ? built : built * rate_shares[step.channel];
    sum += step.share;
  }
  if (sum == 0) return;
  for (PathStep& step : steps) step.share /= sum;
}

void PortRates::starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const {
  starts.push_back({});
}

void PortRates::steps(topologies::Vertex at, PathState state, std::uint32_t host,
                      std::vector<PathStep>& steps) const {
  const std::size_t first = steps.size();
  for (const std::uint32_t c : table_.candidates(at, host)) steps.push_back({.channel = c, .state = state});
  share_by_rates(topology_, shares_, std::span(steps).subspan(first));
}

std::unique_ptr<PathModel> port_rates(const PlanSetup& setup) { return std::make_unique<PortRates>(setup); }

}  // namespace weft::routing
