// What policies share that choose among ports by their load.
#pragma once

#include <array>
#include <cstddef>
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
  // Ports with the least load so far, up to what one draw is to decide among.
  constexpr std::size_t kMost = 256;
  std::array<std::uint32_t, kMost> best;
  std::size_t equals = 0;
  Time least = Time::max();
  for (const std::uint32_t port : ports) {
    const Time load = load_of(port, here);
    if (load < least) equals = 0;
    if (load > least || equals == kMost) continue;
    least = load;
    best[equals++] = port;
  }
  return equals == 1 ? best[0] : best[here.random().below(equals)];
}

}  // namespace weft::routing
