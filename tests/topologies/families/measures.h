// Properties of a network, measured on its graph.
#pragma once

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "topologies/families.h"

namespace weft::topologies {

inline Topology make(const std::string& short_form) { return build(parse_module_choice(short_form)); }

// Links from `source` to every vertex.
inline std::vector<int> distances(const Topology& topology, Vertex source) {
  std::vector<int> distance(topology.nodes(), 0);
  boost::breadth_first_search(
      topology.graph(), source,
      boost::visitor(boost::make_bfs_visitor(boost::record_distances(&distance[0], boost::on_tree_edge()))));
  return distance;
}

// Number of shortest paths from `source` to every vertex: by increasing distance, the sum over the
// neighbours that are one link nearer.
inline std::vector<std::uint64_t> path_counts(const Topology& topology, Vertex source) {
  const std::vector<int> distance = distances(topology, source);
  std::vector<Vertex> order(topology.nodes());
  for (Vertex v = 0; v < order.size(); ++v) order[v] = v;
  std::sort(order.begin(), order.end(), [&](Vertex a, Vertex b) { return distance[a] < distance[b]; });
  std::vector<std::uint64_t> paths(topology.nodes(), 0);
  paths[source] = 1;
  for (const Vertex v : order) {
    for (const std::uint32_t channel : topology.out_channels(v)) {
      const Vertex to = topology.channels()[channel].to;
      if (distance[to] == distance[v] + 1) paths[to] += paths[v];
    }
  }
  return paths;
}

inline std::size_t links_between_switches(const Topology& topology) {
  std::size_t channels = 0;
  for (const Channel& channel : topology.channels()) {
    channels += topology.node(channel.from).kind == NodeKind::kSwitch &&
                topology.node(channel.to).kind == NodeKind::kSwitch;
  }
  return channels / 2;
}

inline std::vector<Vertex> switches_of_tier(const Topology& topology, int tier) {
  std::vector<Vertex> found;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    if (topology.node(topology.switch_at(s)).tier == tier) found.push_back(topology.switch_at(s));
  }
  return found;
}

struct PathLengths {
  int diameter = 0;
  double average = 0;  // over ordered pairs of distinct vertices
};

inline PathLengths path_lengths(const Topology& topology, const std::vector<Vertex>& among) {
  PathLengths result;
  double sum = 0;
  for (const Vertex a : among) {
    const std::vector<int> distance = distances(topology, a);
    for (const Vertex b : among) {
      result.diameter = std::max(result.diameter, distance[b]);
      sum += distance[b];
    }
  }
  result.average = sum / (static_cast<double>(among.size()) * (static_cast<double>(among.size()) - 1));
  return result;
}

inline double average_path_length(const Topology& topology, const std::vector<Vertex>& among) {
  return path_lengths(topology, among).average;
}

// Pairs of switches that are joined by one link or several.
inline std::set<std::pair<std::uint32_t, std::uint32_t>> joined_switches(const Topology& topology) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Channel& channel : topology.channels()) {
    const Node &from = topology.node(channel.from), &to = topology.node(channel.to);
    if (from.kind != NodeKind::kSwitch || to.kind != NodeKind::kSwitch) continue;
    if (from.index < to.index) pairs.emplace(from.index, to.index);
  }
  return pairs;
}

}  // namespace weft::topologies
