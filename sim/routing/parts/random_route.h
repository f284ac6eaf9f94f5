// Source routes drawn among minimal ways.
#pragma once

#include <cstdint>

#include "sim/core/random.h"
#include "sim/routing/switch_policy.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

struct DrawnRoute {
  SourceRoute route;
  bool only = true;  // there was no choice anywhere
};

// From switch `at` to a host, one of the minimal next channels at each switch, with equal odds. Appends to
// `drawn`. Throws InputError if there is no way, or if that takes more than SourceRoute::kMost switches in
// all.
void draw_route(const topologies::Topology& topology, const RoutingTable& table, topologies::Vertex at,
                std::uint32_t host, sim::RandomStream& random, DrawnRoute& drawn);

// Does each step from switch `at` on lie on a minimal path to the host, and the last one lead there?
bool is_minimal(const topologies::Topology& topology, const RoutingTable& table, topologies::Vertex at,
                std::uint32_t host, const SourceRoute& route);

// The most switches on a minimal path between two hosts; or some number above `limit`, if it is more.
std::uint32_t most_switches(const topologies::Topology& topology, std::uint32_t limit);

}  // namespace weft::routing
