#include "sim/routing/parts/shortest_routes.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::routing {

using topologies::Topology;
using topologies::Vertex;

bool ShortestRoutes::leads_on(const Goal& goal, Vertex at, std::uint32_t channel) const {
  if (distances_.is_denied(channel)) return false;
  const Vertex next = topology_.channels()[channel].to;
  const std::uint8_t distance = goal.distances[index(at)];
  if (distance == 1) return next == goal.host;
  return is_switch(next) && goal.distances[index(next)] == distance - 1;
}

void ShortestRoutes::next(Vertex at, std::uint32_t host, std::vector<std::uint32_t>& channels) {
  const Goal goal{distances_.towards(topology_.host(host)), topology_.host(host)};
  for (const std::uint32_t c : topology_.out_channels(at)) {
    if (leads_on(goal, at, c)) channels.push_back(c);
  }
}

// All ways from a switch, depth first, until there are enough. `route` leads to the switch.
void ShortestRoutes::collect(const Goal& goal, Vertex at, SourceRoute& route, std::size_t most,
                             std::vector<SourceRoute>& found) const {
  const auto ports = topology_.out_channels(at);
  for (std::size_t port = 0; port < ports.size() && found.size() < most; ++port) {
    if (!leads_on(goal, at, ports[port])) continue;
    route.ports[route.length++] = static_cast<std::uint16_t>(port);
    const Vertex next = topology_.channels()[ports[port]].to;
    if (next == goal.host) {
      found.push_back(route);
    } else {
      collect(goal, next, route, most, found);
    }
    route.ports[--route.length] = 0;
  }
}

void fail_too_long(const Topology& topology, Vertex from, Vertex to, std::uint8_t distance) {
  throw InputError(
      fmt::format("source routes: the shortest way from {} to {} has {} switches{}, and a source route "
                  "holds {} at most; "
                  "choose a network with shorter paths, or another routing policy",
                  topology.node(from).name, topology.node(to).name, distance,
                  distance == HostDistances::kFar ? " or more" : "", SourceRoute::kMost));
}

SourceRoute ShortestRoutes::walk(const Goal& goal, Vertex at, sim::RandomStream& random) const {
  SourceRoute route;
  while (at != goal.host) {
    const auto ports = topology_.out_channels(at);
    const auto leads = [&](std::uint32_t channel) { return leads_on(goal, at, channel); };
    auto skip = random.below(static_cast<std::uint64_t>(std::count_if(ports.begin(), ports.end(), leads)));
    std::size_t port = 0;
    while (!leads(ports[port]) || skip-- > 0) ++port;
    route.ports[route.length++] = static_cast<std::uint16_t>(port);
    at = topology_.channels()[ports[port]].to;
  }
  return route;
}

std::vector<SourceRoute> ShortestRoutes::draw(std::uint32_t source, std::uint32_t nic,
                                              std::uint32_t destination, std::size_t most,
                                              sim::RandomStream& random) {
  const Vertex from = topology_.host(source), to = topology_.host(destination);
  const std::uint32_t out = topology_.out_channels(from)[nic];
  const Vertex first = topology_.channels()[out].to;
  if (distances_.is_denied(out) || most == 0) return {};
  if (first == to) return {SourceRoute()};
  const Goal goal{distances_.towards(to), to};
  const std::uint8_t distance = is_switch(first) ? goal.distances[index(first)] : HostDistances::kNoWay;
  if (distance == HostDistances::kNoWay) return {};
  if (distance > SourceRoute::kMost) fail_too_long(topology_, from, to, distance);
  SourceRoute route;
  std::vector<SourceRoute> all, drawn;
  collect(goal, first, route, most + 1, all);
  const auto add = [&drawn](const SourceRoute& way) {
    if (std::find(drawn.begin(), drawn.end(), way) == drawn.end()) drawn.push_back(way);
  };
  if (all.size() > most) {
    // Ways that are hardly ever drawn: what is missing after so many tries is taken as it comes.
    for (std::size_t tries = 8 * most + 64; tries > 0 && drawn.size() < most; --tries) {
      add(walk(goal, first, random));
    }
    for (const SourceRoute& way : all) {
      if (drawn.size() < most) add(way);
    }
    return drawn;
  }
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  return all;
}

}  // namespace weft::routing
