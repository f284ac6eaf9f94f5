#include "sim/routing/policies/host_distances.h"

#include <algorithm>

namespace weft::routing {

using topologies::NodeKind;
using topologies::Vertex;

const HostDistances::Distances& HostDistances::towards(Vertex host) {
  std::vector<Vertex> last;
  for (const std::uint32_t out : topology_.out_channels(host)) {
    const Vertex next = topology_.channels()[out].to;
    if (!is_denied(out) && topology_.node(next).kind == NodeKind::kSwitch) last.push_back(next);
  }
  std::sort(last.begin(), last.end());
  last.erase(std::unique(last.begin(), last.end()), last.end());
  const std::lock_guard lock(mutex_);
  std::unique_ptr<const Distances>& distances = known_[last];
  if (distances == nullptr) distances = std::make_unique<const Distances>(search(last));
  return *distances;
}

// Breadth first from the switches that lead to the destination.
HostDistances::Distances HostDistances::search(const std::vector<Vertex>& last) const {
  Distances distances(topology_.switches(), kNoWay);
  std::vector<Vertex> queue = last;
  for (const Vertex v : queue) distances[topology_.node(v).index] = 1;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint8_t here = distances[topology_.node(queue[i]).index];
    for (const std::uint32_t out : topology_.out_channels(queue[i])) {
      const topologies::Node& next = topology_.node(topology_.channels()[out].to);
      if (is_denied(out) || next.kind != NodeKind::kSwitch || distances[next.index] != kNoWay) continue;
      distances[next.index] = std::min<std::uint8_t>(kFar, here + 1);
      queue.push_back(topology_.channels()[out].to);
    }
  }
  return distances;
}

}  // namespace weft::routing
