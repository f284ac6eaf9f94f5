// The routing table against shortest paths computed in the plainest way.
#include "sim/routing/routing_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/core/random.h"
#include "sim/units/input_error.h"
#include "topologies/graph/topology.h"

namespace weft {
namespace {

using topologies::Link;
using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

const Link kLink{Bandwidth::gbps(100), Time::ns(500)};

// Distances by relaxing every channel until nothing changes (Bellman-Ford), one destination at a time.
// Only switches and the source forward, so a channel out of another host is never relaxed.
std::vector<int> distances_to(const Topology& topology, std::uint32_t destination) {
  constexpr int kFar = 1 << 20;
  std::vector<int> distance(topology.nodes(), kFar);
  distance[topology.host(destination)] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const topologies::Channel& channel : topology.channels()) {
      const bool next_forwards =
          topology.node(channel.to).kind == NodeKind::kSwitch || channel.to == topology.host(destination);
      if (!next_forwards || distance[channel.to] + 1 >= distance[channel.from]) continue;
      distance[channel.from] = distance[channel.to] + 1;
      changed = true;
    }
  }
  return distance;
}

void check_all_pairs(const Topology& topology) {
  const routing::RoutingTable table(topology);
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    const std::vector<int> distance = distances_to(topology, h);
    for (Vertex v = 0; v < topology.nodes(); ++v) {
      if (v == topology.host(h)) continue;
      std::vector<std::uint32_t> expected;
      for (const std::uint32_t channel : topology.out_channels(v)) {
        const std::uint32_t to = topology.channels()[channel].to;
        const bool forwards = topology.node(to).kind == NodeKind::kSwitch || to == topology.host(h);
        if (forwards && distance[to] + 1 == distance[v]) expected.push_back(channel);
      }
      const auto found = table.candidates(v, h);
      INFO(topology.name() << ": at " << topology.node(v).name << " towards host " << h);
      REQUIRE(std::vector<std::uint32_t>(found.begin(), found.end()) == expected);
      for (std::uint32_t i = 0; i < expected.size(); ++i) {
        const auto pick = [&](std::size_t count) {
          CHECK(count == expected.size());
          return i;
        };
        REQUIRE(table.candidate(v, h, pick) == expected[i]);
      }
    }
  }
}

// A connected network of random switches with parallel links, hosts with 1 to 3 NICs (some twice to the same
// switch), and now and then two hosts cabled to each other.
Topology random_topology(std::uint64_t seed) {
  sim::RandomStream random(seed, 1);
  Topology topology("random " + std::to_string(seed));
  const auto switches = static_cast<std::uint32_t>(1 + random.below(12));
  const auto hosts = static_cast<std::uint32_t>(1 + random.below(14));
  std::vector<Vertex> at;
  std::vector<Vertex> host_at;
  for (std::uint32_t i = 0; i < std::max(switches, hosts); ++i) {  // interleaved vertex numbers
    if (i < switches) at.push_back(topology.add_switch("switch " + std::to_string(i), 1));
    if (i < hosts) host_at.push_back(topology.add_host("host " + std::to_string(i)));
  }
  for (std::uint32_t i = 1; i < switches; ++i) topology.add_link(at[i], at[random.below(i)], kLink);
  for (std::uint64_t extra = random.below(2 * switches); extra > 0 && switches > 1; --extra) {
    const std::uint64_t a = random.below(switches);
    const std::uint64_t b = (a + 1 + random.below(switches - 1)) % switches;
    topology.add_link(at[a], at[b], kLink);
  }
  for (std::uint32_t i = 0; i < hosts; ++i) {
    for (std::uint64_t nic = 0; nic <= random.below(3); ++nic) {
      topology.add_link(host_at[i], at[random.below(switches)], kLink);
    }
    if (i > 0 && random.below(6) == 0) topology.add_link(host_at[i], host_at[random.below(i)], kLink);
  }
  topology.finish();
  return topology;
}

}  // namespace

TEST_CASE("routing table: equals shortest paths on random networks") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) check_all_pairs(random_topology(seed));
}

TEST_CASE("routing table: two planes that do not meet") {
  // Host 0 and 1 have a NIC in each plane; host 2 only in plane 1.
  Topology topology("planes");
  const Vertex a = topology.add_switch("a", 1), b = topology.add_switch("b", 1);
  std::vector<Vertex> hosts;
  for (int i = 0; i < 3; ++i) hosts.push_back(topology.add_host("host " + std::to_string(i)));
  for (int i = 0; i < 2; ++i) topology.add_link(hosts[i], a, kLink);
  for (int i = 0; i < 3; ++i) topology.add_link(hosts[i], b, kLink);
  topology.finish();
  check_all_pairs(topology);
  const routing::RoutingTable table(topology);
  CHECK(table.candidates(hosts[0], 1).size() == 2);
  CHECK(table.candidates(hosts[0], 2).size() == 1);
  // Plane 0 never leads to host 2.
  CHECK(table.candidates(a, 2).empty());
}

TEST_CASE("routing table: hosts that only other hosts could join are an error") {
  Topology topology("split");
  const Vertex a = topology.add_switch("a", 1), b = topology.add_switch("b", 1);
  const Vertex middle = topology.add_host("middle"), left = topology.add_host("left"),
               right = topology.add_host("right");
  topology.add_link(middle, a, kLink);
  topology.add_link(middle, b, kLink);
  topology.add_link(left, a, kLink);
  topology.add_link(right, b, kLink);
  topology.finish();
  CHECK_THROWS_WITH(routing::RoutingTable(topology), "split: 'right' cannot reach 'left' through switches");
}

}  // namespace weft
