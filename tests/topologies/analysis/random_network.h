// Small networks of any shape, for properties that must hold for all of them.
#pragma once

#include <fmt/core.h>
#include <rapidcheck.h>

#include <cstdint>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// A tree of 1 to 8 switches with more links across it, parallel ones among them, and 1 to 10 hosts with 1 to
// 3 links each. Latencies of 0, 1, 10 and 100 ns. Sometimes a pair of switches that no host can reach. To be
// called inside a property.
inline Topology random_network() {
  const auto below = [](std::size_t n) { return *rc::gen::resize(100, rc::gen::inRange<std::size_t>(0, n)); };
  const Time latencies[] = {Time::ns(100), Time::ns(10), Time::ns(1), Time()};
  const auto link = [&] { return Link{Bandwidth::gbps(100), latencies[below(4)]}; };
  Topology topology("random");
  std::vector<Vertex> switches;
  const std::size_t switch_count = 1 + below(8), across = below(8), host_count = 1 + below(10);
  for (std::size_t s = 0; s < switch_count; ++s) {
    switches.push_back(topology.add_switch(fmt::format("switch {}", s), 1));
    if (s > 0) topology.add_link(switches[s], switches[below(s)], link());
  }
  for (std::size_t i = 0; i < across && switch_count > 1; ++i) {
    const std::size_t a = below(switch_count), b = (a + 1 + below(switch_count - 1)) % switch_count;
    topology.add_link(switches[a], switches[b], link());
  }
  for (std::size_t h = 0; h < host_count; ++h) {
    const Vertex host = topology.add_host(fmt::format("host {}", h));
    const std::size_t nics = 1 + below(3);
    for (std::size_t n = 0; n < nics; ++n) {
      topology.add_link(host, switches[below(switch_count)], link());
    }
  }
  if (below(4) == 3) {
    const Vertex a = topology.add_switch("lost 0", 1), b = topology.add_switch("lost 1", 1);
    topology.add_link(a, b, link());
  }
  topology.finish();
  return topology;
}

}  // namespace weft::topologies
