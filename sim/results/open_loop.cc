#include "sim/results/open_loop.h"

namespace weft::results {

OpenLoop open_loop(const OpenLoopWindow& window, std::span<const Flow> flows) {
  OpenLoop figures{.window = window, .offered = 0, .accepted = 0, .times = {}};
  const auto within = [&](Time time) { return window.from <= time && time < window.until; };
  FlowStatistics begun;
  std::uint64_t offered = 0, accepted = 0;
  for (const Flow& flow : flows) {
    if (flow.source == flow.destination) continue;  // no network carries it
    if (within(flow.finish)) accepted += flow.bytes;
    if (!within(flow.start)) continue;
    offered += flow.bytes;
    begun.add_but_hosts(flow);
  }
  const double bits = window.capacity_bps * (window.until - window.from).seconds();
  figures.offered = 8 * static_cast<double>(offered) / bits;
  figures.accepted = 8 * static_cast<double>(accepted) / bits;
  figures.times = begun.all();
  return figures;
}

}  // namespace weft::results
