// Figures of a placement against sums over breadth-first searches.
#include "sim/placement/quality.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <queue>
#include <string>
#include <vector>

#include "sim/placement/policies/policies.h"
#include "sim/units/random.h"
#include "topologies/families.h"

namespace weft::placement {
namespace {

// Links between two hosts, but for their own.
int hops(const topologies::Topology& topology, std::uint32_t from, std::uint32_t to) {
  if (from == to) return 0;
  std::map<topologies::Vertex, int> links = {{topology.host(from), 0}};
  std::queue<topologies::Vertex> queue({topology.host(from)});
  while (links.count(topology.host(to)) == 0) {
    const topologies::Vertex v = queue.front();
    queue.pop();
    for (const std::uint32_t c : topology.out_channels(v)) {
      const topologies::Vertex next = topology.channels()[c].to;
      if (links.emplace(next, links[v] + 1).second &&
          topology.node(next).kind == topologies::NodeKind::kSwitch)
        queue.push(next);
    }
  }
  return links[topology.host(to)] - 2;
}

}  // namespace

TEST_CASE("quality: hop-bytes and dilation are what a naive sum says") {
  for (const char* network : {"torus:dims=4x4", "fat_tree:k=4", "dragonfly:p=2",
                              "hammingmesh:a=2,b=2,x=3,y=3", "multi_plane:k=4,planes=2", "slim_fly:q=3"}) {
    const topologies::Topology topology = topologies::build(parse_module_choice(network));
    RandomStream draw(7, topology.hosts());
    const std::uint32_t ranks = std::min(topology.hosts(), 12U) * 2 - 3;
    std::vector<Exchange> exchanges;
    for (std::uint32_t from = 0; from < ranks; ++from) {
      for (std::uint32_t to = 0; to < ranks; ++to) {
        if (from != to && draw.below(4) == 0)
          exchanges.push_back({from, to, static_cast<double>(1 + draw.below(5000))});
      }
    }
    const Outcome outcome = place(parse_module_choice("random"),
                                  {.ranks = ranks, .ranks_per_node = 2, .seed = 4}, idle_machine(topology));
    const Quality quality =
        quality_of(topology, outcome.hosts, exchanges, HostDistances(topology, outcome.hosts));
    double bytes = 0, hop_bytes = 0, dilation = 0, on_node = 0, on_switch = 0;
    int worst = 0;
    std::vector<double> by_hops(20, 0);
    for (const Exchange& each : exchanges) {
      const std::uint32_t a = outcome.hosts[each.from], b = outcome.hosts[each.to];
      const int distance = hops(topology, a, b);
      bytes += each.bytes;
      hop_bytes += each.bytes * distance;
      dilation += distance;
      worst = std::max(worst, distance);
      (a == b ? on_node : distance == 0 ? on_switch : by_hops[0]) += each.bytes;
    }
    INFO(network);
    CHECK(quality.nodes == (ranks + 1) / 2);
    CHECK(quality.pairs == exchanges.size());
    CHECK(quality.bytes == Approx(bytes));
    CHECK(quality.hop_bytes == Approx(hop_bytes));
    CHECK(quality.hops_per_byte() == Approx(hop_bytes / bytes));
    CHECK(quality.mean_dilation == Approx(dilation / static_cast<double>(exchanges.size())));
    CHECK(static_cast<int>(quality.worst_dilation) == worst);
    CHECK(quality.bytes_on_node == Approx(on_node));
    CHECK(quality.bytes_on_switch == Approx(on_switch));
    double sum = 0, weighed = 0;
    for (std::size_t h = 0; h < quality.bytes_by_hops.size(); ++h) {
      sum += quality.bytes_by_hops[h];
      weighed += quality.bytes_by_hops[h] * static_cast<double>(h);
    }
    CHECK(sum == Approx(bytes));
    CHECK(weighed == Approx(hop_bytes));
  }
}

}  // namespace weft::placement
