#include "tests/topologies/families/measures.h"

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>

#include "topologies/graph/boost_graph.h"

namespace weft::topologies {
namespace {

// By Boost, so that nothing of the library under test measures its own work.
std::vector<int> distances_in(const BoostGraph& graph, Vertex source) {
  std::vector<int> distance(boost::num_vertices(graph), 0);
  boost::breadth_first_search(
      graph, source,
      boost::visitor(boost::make_bfs_visitor(boost::record_distances(&distance[0], boost::on_tree_edge()))));
  return distance;
}

}  // namespace

std::vector<int> distances(const Topology& topology, Vertex source) {
  return distances_in(boost_graph(topology), source);
}

std::vector<std::uint64_t> path_counts(const Topology& topology, Vertex source) {
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

std::size_t links_between_switches(const Topology& topology) {
  std::size_t channels = 0;
  for (const Channel& channel : topology.channels()) {
    channels += topology.node(channel.from).kind == NodeKind::kSwitch &&
                topology.node(channel.to).kind == NodeKind::kSwitch;
  }
  return channels / 2;
}

std::vector<Vertex> switches_of_tier(const Topology& topology, int tier) {
  std::vector<Vertex> found;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    if (topology.node(topology.switch_at(s)).tier == tier) found.push_back(topology.switch_at(s));
  }
  return found;
}

PathLengths path_lengths(const Topology& topology, const std::vector<Vertex>& among) {
  PathLengths result;
  double sum = 0;
  const BoostGraph graph = boost_graph(topology);
  for (const Vertex a : among) {
    const std::vector<int> distance = distances_in(graph, a);
    for (const Vertex b : among) {
      result.diameter = std::max(result.diameter, distance[b]);
      sum += distance[b];
    }
  }
  result.average = sum / (static_cast<double>(among.size()) * (static_cast<double>(among.size()) - 1));
  return result;
}

double average_path_length(const Topology& topology, const std::vector<Vertex>& among) {
  return path_lengths(topology, among).average;
}

std::set<std::pair<std::uint32_t, std::uint32_t>> joined_switches(const Topology& topology) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Channel& channel : topology.channels()) {
    const Node &from = topology.node(channel.from), &to = topology.node(channel.to);
    if (from.kind != NodeKind::kSwitch || to.kind != NodeKind::kSwitch) continue;
    if (from.index < to.index) pairs.emplace(from.index, to.index);
  }
  return pairs;
}

}  // namespace weft::topologies
