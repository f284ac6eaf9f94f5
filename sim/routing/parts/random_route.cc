#include "sim/routing/parts/random_route.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/routing/source_route.h"
#include "sim/routing/table/host_classes.h"
#include "sim/routing/table/parallel_search.h"
#include "sim/routing/table/switch_links.h"
#include "sim/units/input_error.h"

namespace weft::routing {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

void draw_route(const Topology& topology, const RoutingTable& table, Vertex at, std::uint32_t host,
                sim::RandomStream& random, DrawnRoute& drawn) {
  const Vertex end = topology.host(host);
  SourceRoute& route = drawn.route;
  for (const Vertex from = at; at != end;) {
    const Candidates candidates = table.candidates(at, host);
    if (candidates.empty()) {
      throw InputError(
          fmt::format("there is no way from {} to {}", topology.node(from).name, topology.node(end).name));
    }
    if (route.length == SourceRoute::kMost) {
      throw InputError(
          fmt::format("the way from {} to {} takes more than {} switches, and a source route names "
                      "no more",
                      topology.node(from).name, topology.node(end).name, SourceRoute::kMost));
    }
    drawn.only = drawn.only && candidates.size() == 1;
    const std::uint32_t channel = candidates[candidates.size() == 1 ? 0 : random.below(candidates.size())];
    append_channel(topology, channel, route);
    at = topology.channels()[channel].to;
  }
}

bool is_minimal(const Topology& topology, const RoutingTable& table, Vertex at, std::uint32_t host,
                const SourceRoute& route) {
  for (std::uint16_t i = 0; i < route.length; ++i) {
    const Candidates candidates = table.candidates(at, host);
    const std::uint32_t channel = topology.out_channels(at)[route.ports[i]];
    if (std::find(candidates.begin(), candidates.end(), channel) == candidates.end()) return false;
    at = topology.channels()[channel].to;
  }
  return at == topology.host(host);
}

std::uint32_t most_switches(const Topology& topology, std::uint32_t limit) {
  std::vector<std::uint32_t> hosts(topology.hosts()), class_of;
  std::iota(hosts.begin(), hosts.end(), 0);
  const std::vector<HostClass> classes = classify(topology, {}, hosts, class_of);
  const auto switches_of = [&](const HostClass& host_class, auto&& use) {
    for (const std::uint32_t neighbour : host_class.neighbours) {
      if (topology.node(neighbour).kind == NodeKind::kSwitch) use(topology.node(neighbour).index);
    }
  };
  std::vector<bool> has_hosts(topology.switches());
  for (const HostClass& each : classes) switches_of(each, [&](std::uint32_t s) { has_hosts[s] = true; });
  const SwitchLinks links(topology);
  const std::vector<bool> none_down;
  ParallelSearch search(links, none_down);
  std::uint32_t most = 0;
  for (std::size_t first = 0; first < classes.size() && most <= limit; first += ParallelSearch::kWidth) {
    const std::size_t end = std::min(classes.size(), first + ParallelSearch::kWidth);
    search.start();
    for (std::size_t c = first; c < end; ++c) {
      switches_of(classes[c],
                  [&](std::uint32_t s) { search.seed(s, static_cast<std::uint32_t>(c - first)); });
    }
    std::uint32_t distance = 0;
    search.run([&](std::span<const std::uint64_t> reached) {
      ++distance;
      for (std::uint32_t s = 0; s < reached.size(); ++s) {
        if (reached[s] != 0 && has_hosts[s]) most = std::max(most, distance);
      }
    });
  }
  return most;
}

}  // namespace weft::routing
