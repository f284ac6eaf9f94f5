// Next channels found in the plainest way, to hold routing tables against.
#pragma once

#include <cstdint>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::routing_reference {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

inline constexpr int kFar = 1 << 29;

inline bool is_up(const std::vector<bool>& down_links, std::uint32_t channel) {
  return down_links.empty() || !down_links[channel / 2];
}

// Links from every node to the host: only switches and the source forward, so a search from the destination
// goes no further at other hosts.
inline std::vector<int> distances_to(const Topology& topology, const std::vector<bool>& down_links,
                                     std::uint32_t destination) {
  std::vector<int> distance(topology.nodes(), kFar);
  std::vector<Vertex> frontier = {topology.host(destination)};
  distance[frontier.front()] = 0;
  for (std::size_t next = 0; next < frontier.size(); ++next) {
    const Vertex at = frontier[next];
    if (next > 0 && topology.node(at).kind == NodeKind::kHost) continue;
    for (const std::uint32_t channel : topology.out_channels(at)) {
      const Vertex from = topology.channels()[channel].to;
      if (!is_up(down_links, channel) || distance[from] != kFar) continue;
      distance[from] = distance[at] + 1;
      frontier.push_back(from);
    }
  }
  return distance;
}

inline std::vector<std::uint32_t> next_channels(const Topology& topology, const std::vector<bool>& down_links,
                                                const std::vector<int>& distance, Vertex at,
                                                std::uint32_t destination) {
  std::vector<std::uint32_t> channels;
  for (const std::uint32_t channel : topology.out_channels(at)) {
    const std::uint32_t to = topology.channels()[channel].to;
    const bool forwards = topology.node(to).kind == NodeKind::kSwitch || to == topology.host(destination);
    if (is_up(down_links, channel) && forwards && distance[to] != kFar && distance[to] + 1 == distance[at])
      channels.push_back(channel);
  }
  return channels;
}

}  // namespace weft::routing_reference
