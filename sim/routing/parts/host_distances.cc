#include "sim/routing/parts/host_distances.h"

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
  std::vector<std::uint32_t> queue;
  for (const Vertex v : last) {
    queue.push_back(topology_.node(v).index);
    distances[queue.back()] = 1;
  }
  queue.reserve(distances.size());
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint8_t next = std::min<std::uint8_t>(kFar, distances[queue[i]] + 1);
    for (const SwitchLink& link : links_.of(queue[i])) {
      if (distances[link.to] != kNoWay || is_denied(link.channel)) continue;
      distances[link.to] = next;
      queue.push_back(link.to);
    }
  }
  return distances;
}

}  // namespace weft::routing
