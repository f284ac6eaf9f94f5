// A switch's choice among its ports, by what it sees of its own.
#pragma once

#include <cstdint>
#include <span>

#include "sim/routing/switch_policy.h"

namespace weft::routing {

// The port with the least backlog that isn't held; by lot among equals. REQUIRES: there are ports.
inline std::uint32_t least_loaded(std::span<const std::uint32_t> ports, OwnSwitch& here) {
  std::uint32_t best = ports.front(), equals = 0;
  Time least = Time::max();
  for (const std::uint32_t port : ports) {
    const Time backlog = here.held(port) ? Time::max() : here.backlog(port);
    if (backlog > least) continue;
    if (backlog < least) equals = 0;
    least = backlog;
    // Each of n equals stays with a chance of 1 / n.
    if (++equals == 1 || here.random().below(equals) == 0) best = port;
  }
  return best;
}

inline std::uint32_t any_port(std::span<const std::uint32_t> ports, OwnSwitch& here) {
  return ports[here.random().below(ports.size())];
}

}  // namespace weft::routing
