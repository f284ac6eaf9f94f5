// Source routes: named by the switches on the way, and checked.
#pragma once

#include <cstdint>
#include <span>

#include "sim/routing/path_selector.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// A channel's place among those that leave its node: of a switch the port, of a host the NIC.
std::uint32_t port_of(const topologies::Topology& topology, std::uint32_t channel);

// The way from a host's NIC over these switches, in their order, to a host. Of parallel links the first.
// Throws InputError where there is no such link, and for more than SourceRoute::kMost switches.
SourceRoute route_over(const topologies::Topology& topology, std::uint32_t source, std::uint32_t nic,
                       std::span<const topologies::Vertex> switches, std::uint32_t destination);

// Lets a route go on over a channel, from the switch where it ends. REQUIRES: it has less than
// SourceRoute::kMost ports.
void append_channel(const topologies::Topology& topology, std::uint32_t channel, SourceRoute& route);

// Throws InputError unless each port exists and the last one, and no other, leads to the destination.
// `nic_channel`: that the packet leaves its source through.
void check_route(const topologies::Topology& topology, std::uint32_t nic_channel, std::uint32_t destination,
                 const SourceRoute& route);

}  // namespace weft::routing
