// What policies share that choose among ports by their load.
#pragma once

#include <cstdint>
#include <span>

#include "sim/routing/switch_policy.h"

namespace weft::routing {

// How loaded a port is: how long its backlog takes; never ahead of another if nothing can leave it.
inline Time load_of(std::uint32_t port, OwnSwitch& here) {
  return here.held(port) ? Time::max() : here.backlog(port);
}

// The port with the least load; by lot among equals. REQUIRES: there is one.
inline std::uint32_t least_loaded(std::span<const std::uint32_t> ports, OwnSwitch& here) {
  return here.least_loaded(ports);
}

inline std::uint32_t any_port(std::span<const std::uint32_t> ports, OwnSwitch& here) {
  return ports[here.random().below(ports.size())];
}

}  // namespace weft::routing
