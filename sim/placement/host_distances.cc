#include "sim/placement/host_distances.h"

#include <fmt/core.h>

#include "sim/units/memory.h"
#include "topologies/analysis/distances.h"
#include "topologies/analysis/router_graph.h"

namespace weft::placement {

HostDistances::HostDistances(const topologies::Topology& topology, std::span<const std::uint32_t> hosts) {
  const topologies::RouterGraph graph = topologies::router_graph(topology);
  const topologies::FlowNetwork network = topologies::flow_network(graph);
  constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> number(graph.terminals.size(), kNone), terminals, sources;
  place_.assign(topology.hosts(), 0);
  for (const std::uint32_t h : hosts) {
    std::uint32_t& place = number[graph.terminal_of[h]];
    if (place == kNone) {
      place = places_++;
      terminals.push_back(graph.terminal_of[h]);
      sources.push_back(network.vertex_of[terminals.back()]);
    }
    place_[h] = place;
  }
  const double pairs = static_cast<double>(places_) * places_;
  expect_memory(pairs, fmt::format("distances between {} switches", places_));
  distance_.resize(std::size_t{places_} * places_);
  std::vector<std::uint32_t> place_of_vertex(network.vertices(), kNone);
  for (std::uint32_t p = 0; p < places_; ++p) place_of_vertex[sources[p]] = p;
  // A terminal with several switches is a vertex of its own, a link from each.
  const auto own = [&](std::uint32_t p) { return sources[p] >= network.routers ? 1 : 0; };
  topologies::visit_distances(
      network, sources,
      [&](std::uint32_t source, std::span<const std::uint8_t> row) {
        const std::uint32_t from = place_of_vertex[source];
        for (std::uint32_t to = 0; to < places_; ++to) {
          const int links = from == to ? 0 : row[sources[to]] - own(from) - own(to);
          distance_[std::size_t{from} * places_ + to] = static_cast<std::uint8_t>(links);
        }
      },
      network.routers);
}

}  // namespace weft::placement
