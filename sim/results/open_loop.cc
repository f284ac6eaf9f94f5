#include "sim/results/open_loop.h"

#include <algorithm>
#include <cmath>

namespace weft::results {
namespace {

// What of a message's bytes is delivered in the window, if it moves evenly.
double delivered(const OpenLoopWindow& window, const Flow& flow) {
  const Time begin = std::max(window.from, flow.start), end = std::min(window.until, flow.finish);
  if (end < begin) return 0;
  const Time all = flow.finish - flow.start;
  const double share = all > Time() ? (end - begin).seconds() / all.seconds() : 1;
  return share * static_cast<double>(flow.bytes);
}

}  // namespace

OpenLoop open_loop(const OpenLoopWindow& window, std::span<const Flow> flows) {
  constexpr double kShare = 0.05, kDeviations = 3;
  FlowStatistics begun;
  double offered = 0, accepted = 0, variance = 0;
  for (const Flow& flow : flows) {
    if (flow.source == flow.destination) continue;  // no network carries it
    const double bytes = static_cast<double>(flow.bytes);
    accepted += delivered(window, flow);
    for (const Time end : {window.from, window.until}) {
      if (flow.start < end && end <= flow.finish) variance += bytes * bytes;
    }
    if (flow.start < window.from || flow.start >= window.until) continue;
    offered += bytes;
    begun.add_but_hosts(flow);
  }
  const double bytes = window.capacity_bps / 8 * (window.until - window.from).seconds();
  const bool keeps_up = offered - accepted <= std::max(kShare * offered, kDeviations * std::sqrt(variance));
  return {window, offered / bytes, accepted / bytes, keeps_up, begun.all()};
}

}  // namespace weft::results
