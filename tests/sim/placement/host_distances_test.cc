// Distances of hosts against breadth-first searches, on every family.
#include "sim/placement/host_distances.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <queue>
#include <string>
#include <vector>

#include "tests/sim/placement/small_networks.h"
#include "topologies/families.h"

namespace weft::placement {
namespace {

// Links on a shortest path from a host to each vertex; other hosts forward nothing.
std::vector<int> search(const topologies::Topology& topology, topologies::Vertex from) {
  std::vector<int> links(topology.nodes(), -1);
  std::queue<topologies::Vertex> queue({from});
  links[from] = 0;
  while (!queue.empty()) {
    const topologies::Vertex v = queue.front();
    queue.pop();
    if (v != from && topology.node(v).kind == topologies::NodeKind::kHost) continue;
    for (const std::uint32_t c : topology.out_channels(v)) {
      const topologies::Vertex to = topology.channels()[c].to;
      if (links[to] >= 0) continue;
      links[to] = links[v] + 1;
      queue.push(to);
    }
  }
  return links;
}

}  // namespace

TEST_CASE("host distances: links between switches, as a breadth-first search counts them") {
  for (const std::string& network : small_networks()) {
    INFO(network);
    const topologies::Topology topology = topologies::build(parse_module_choice(network));
    std::vector<std::uint32_t> some(std::min<std::uint32_t>(topology.hosts(), 80));
    std::iota(some.begin(), some.end(), 0U);
    some.push_back(topology.hosts() - 1);
    const HostDistances distances(topology, some);
    for (const std::uint32_t a : some) {
      const std::vector<int> links = search(topology, topology.host(a));
      for (const std::uint32_t b : some) {
        // But for the hosts' own links.
        const int expected = a == b ? 0 : links[topology.host(b)] - 2;
        if (static_cast<int>(distances.hops(a, b)) != expected) {
          INFO(a << " to " << b);
          CHECK(static_cast<int>(distances.hops(a, b)) == expected);
        }
      }
    }
  }
}

}  // namespace weft::placement
