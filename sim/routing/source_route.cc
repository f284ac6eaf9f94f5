#include "sim/routing/source_route.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "sim/units/input_error.h"

namespace weft::routing {
namespace {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

[[noreturn]] void fail(const Topology& topology, Vertex source, Vertex destination, const std::string& why) {
  throw InputError(fmt::format("source route from {} to {}: {}", topology.node(source).name,
                               topology.node(destination).name, why));
}

}  // namespace

std::uint32_t port_of(const Topology& topology, std::uint32_t channel) {
  const auto out = topology.out_channels(topology.channels()[channel].from);
  return static_cast<std::uint32_t>(std::find(out.begin(), out.end(), channel) - out.begin());
}

void append_channel(const Topology& topology, std::uint32_t channel, SourceRoute& route) {
  route.ports[route.length++] = static_cast<std::uint16_t>(port_of(topology, channel));
}

SourceRoute route_over(const Topology& topology, std::uint32_t source, std::uint32_t nic,
                       std::span<const Vertex> switches, std::uint32_t destination) {
  const Vertex from = topology.host(source), to = topology.host(destination);
  if (switches.size() > SourceRoute::kMost) {
    fail(topology, from, to,
         fmt::format("{} switches, and {} is the most that one may name", switches.size(),
                     SourceRoute::kMost));
  }
  const auto nics = topology.out_channels(from);
  if (nic >= nics.size()) fail(topology, from, to, fmt::format("there is no NIC {}", nic));
  Vertex at = topology.channels()[nics[nic]].to;
  if (switches.empty() || at != switches.front()) {
    fail(topology, from, to,
         fmt::format("it must begin with {}, where NIC {} leads", topology.node(at).name, nic));
  }
  SourceRoute route;
  for (std::size_t i = 0; i < switches.size(); ++i) {
    const Vertex next = i + 1 < switches.size() ? switches[i + 1] : to;
    const auto ports = topology.out_channels(at);
    const auto found = std::find_if(ports.begin(), ports.end(), [&](std::uint32_t channel) {
      return topology.channels()[channel].to == next;
    });
    if (found == ports.end()) {
      fail(topology, from, to,
           fmt::format("there is no link from {} to {}", topology.node(at).name, topology.node(next).name));
    }
    append_channel(topology, *found, route);
    at = next;
  }
  return route;
}

void check_route(const Topology& topology, std::uint32_t nic_channel, std::uint32_t destination,
                 const SourceRoute& route) {
  const Vertex from = topology.channels()[nic_channel].from, to = topology.host(destination);
  Vertex at = topology.channels()[nic_channel].to;
  if (route.length > SourceRoute::kMost) {
    fail(topology, from, to,
         fmt::format("{} ports, and {} is the most that one may name", route.length, SourceRoute::kMost));
  }
  for (std::uint16_t i = 0; i < route.length; ++i) {
    if (topology.node(at).kind == NodeKind::kHost) {
      fail(topology, from, to, fmt::format("it goes on behind {}", topology.node(at).name));
    }
    const auto ports = topology.out_channels(at);
    if (route.ports[i] >= ports.size()) {
      fail(topology, from, to,
           fmt::format("{} has no port {}, but {}, from 0", topology.node(at).name, route.ports[i],
                       ports.size()));
    }
    at = topology.channels()[ports[route.ports[i]]].to;
  }
  if (at != to) fail(topology, from, to, fmt::format("it ends at {}", topology.node(at).name));
}

}  // namespace weft::routing
