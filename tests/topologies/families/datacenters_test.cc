// Sites and the long links between them: counts from closed forms, attributes of every link, what can't be
// built.
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/topologies/families/measures.h"

namespace weft::topologies {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

// The long links between every two sites.
std::map<Pair, std::uint32_t> long_links(const Topology& topology) {
  std::map<Pair, std::uint32_t> counts;
  for (const Edge& edge : topology.edges()) {
    const Node& a = topology.node(edge.from);
    const Node& b = topology.node(edge.to);
    if (a.site == b.site) continue;
    CHECK(a.name.starts_with("border "));
    CHECK(b.name.starts_with("border "));
    ++counts[{a.site, b.site}];
  }
  return counts;
}

}  // namespace

TEST_CASE("datacenters: two fat trees and one long link") {
  const Topology topology = make("datacenters:of=[fat_tree:k=4]");
  CHECK(topology.hosts() == 2 * 16);
  CHECK(topology.switches() == 2 * (20 + 1));
  // A border switch has a link to each of the four cores.
  CHECK(links_between_switches(topology) == 2 * (32 + 4) + 1);
  CHECK(long_links(topology) == std::map<Pair, std::uint32_t>{{{0, 1}, 1}});
  // Edge, aggregation, core, border, border, core, aggregation, edge.
  const std::vector<Vertex> edges = switches_of_tier(topology, 1);
  REQUIRE(edges.size() == 16);
  CHECK(distances(topology, edges[0])[edges[8]] == 7);
  // Within a site everything is as in the tree alone.
  const Topology tree = make("fat_tree:k=4");
  const std::vector<int> apart = distances(topology, edges[0]);
  const std::vector<int> in_tree = distances(tree, switches_of_tier(tree, 1)[0]);
  for (std::uint32_t s = 0; s < tree.switches(); ++s) {
    CHECK(apart[topology.switch_at(s)] == in_tree[tree.switch_at(s)]);
  }
}

TEST_CASE("datacenters: the long links have what was asked for, and nothing else has") {
  const Topology topology = make(
      "datacenters:of=[fat_tree:k=4],borders=2,long_links=6,long_rate=100Gbps,long_latency=886500ns,loss=0."
      "001,"
      "latency=1us,link=200Gbps,border_latency=300ns");
  std::map<std::string, int> ends;
  for (const Edge& edge : topology.edges()) {
    const Link& link = edge.link;
    const Node& a = topology.node(edge.from);
    const Node& b = topology.node(edge.to);
    if (a.site == b.site) {
      CHECK(link.loss == 0);
      CHECK(link.latency == Time::ps(1'000'000));
      CHECK(link.rate == Bandwidth::gbps(200));
      CHECK(link.cable == CableKind::kUnknown);
      continue;
    }
    ++ends[a.name + " - " + b.name];
    CHECK(link.loss == 0.001);
    CHECK(link.latency == Time::ps(886'500'000));
    CHECK(link.rate == Bandwidth::gbps(100));
    CHECK(link.cable == CableKind::kLongHaul);
    // 1 km of fibre takes 4.9 us: 886.5 us are 181 km.
    CHECK(link.length_m == Approx(181'000).epsilon(0.001));
    CHECK(a.switch_latency == Time::ps(300'000));
  }
  CHECK(ends == std::map<std::string, int>{{"border 0.0 - border 1.0", 3}, {"border 0.1 - border 1.1", 3}});
  for (const Channel& channel : topology.channels()) {
    CHECK((channel.loss > 0) == (topology.node(channel.from).site != topology.node(channel.to).site));
  }
}

TEST_CASE("datacenters: shapes join the sites that they should") {
  const auto joined = [](const std::string& shape, int sites) {
    const Topology topology =
        make("datacenters:of=[single_switch:hosts=2],sites=" + std::to_string(sites) + ",shape=" + shape);
    std::set<Pair> pairs;
    for (const auto& [pair, count] : long_links(topology)) {
      CHECK(count == 1);
      pairs.insert(pair);
    }
    return pairs;
  };
  CHECK(joined("full", 4) == std::set<Pair>{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}});
  CHECK(joined("ring", 4) == std::set<Pair>{{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  CHECK(joined("chain", 4) == std::set<Pair>{{0, 1}, {1, 2}, {2, 3}});
  CHECK(joined("star", 4) == std::set<Pair>{{0, 1}, {0, 2}, {0, 3}});
  for (const char* shape : {"full", "ring", "chain", "star"})
    CHECK(joined(shape, 2) == std::set<Pair>{{0, 1}});
}

TEST_CASE("datacenters: sites that differ") {
  const Topology topology = make("datacenters:of=[fat_tree:k=4; slim_fly:q=5 ;hammingmesh:a=2,b=2,x=2,y=2]");
  const Topology tree = make("fat_tree:k=4"), slim = make("slim_fly:q=5"),
                 mesh = make("hammingmesh:a=2,b=2,x=2,y=2");
  CHECK(topology.hosts() == tree.hosts() + slim.hosts() + mesh.hosts());
  CHECK(topology.switches() == tree.switches() + slim.switches() + mesh.switches() + 3);
  // 4 cores; a Slim Fly is one tier: a link for 16 of the 200 hosts; every line of the mesh has a switch.
  CHECK(links_between_switches(topology) == links_between_switches(tree) + 4 + links_between_switches(slim) +
                                                13 + links_between_switches(mesh) + 8 + 3);
  // Hosts by site; groups, racks and names are nobody else's.
  std::map<std::uint32_t, std::set<std::uint16_t>> sites_of_group, sites_of_rack;
  std::set<std::string> names;
  std::uint16_t last = 0;
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    CHECK(topology.node(topology.host(h)).site >= last);
    last = topology.node(topology.host(h)).site;
  }
  CHECK(last == 2);
  for (Vertex v = 0; v < topology.nodes(); ++v) {
    const Node& node = topology.node(v);
    sites_of_group[node.group].insert(node.site);
    if (node.rack != kNoRack) sites_of_rack[node.rack].insert(node.site);
    CHECK(names.insert(node.name).second);
  }
  for (const auto& [group, sites] : sites_of_group) CHECK(sites.size() == 1);
  for (const auto& [rack, sites] : sites_of_rack) CHECK(sites.size() == 1);
}

TEST_CASE("datacenters: nodes of several accelerators stand in the sites of the hosts that they replace") {
  for (const char* choice : {"scale_up:of=[datacenters:of=[fat_tree:k=4]],accelerators=4,switches=2",
                             "datacenters:of=[scale_up:of=[fat_tree:k=4],accelerators=4,switches=2]"}) {
    const Topology topology = make(choice);
    REQUIRE(topology.hosts() == 2 * 64);
    for (std::uint32_t h = 0; h < topology.hosts(); ++h)
      CHECK(topology.node(topology.host(h)).site == h / 64);
    CHECK(long_links(topology) == std::map<Pair, std::uint32_t>{{{0, 1}, 1}});
  }
}

TEST_CASE("datacenters: the links of a border switch are spread over its site") {
  const Topology topology = make("datacenters:of=[torus:dims=4x4,hosts=4],borders=2,border_links=4");
  std::set<Vertex> used;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    const Vertex border = topology.switch_at(s);
    if (topology.node(border).tier != 2 || topology.node(border).site != 0) continue;
    int links = 0;
    for (const std::uint32_t c : topology.out_channels(border)) {
      const Vertex other = topology.channels()[c].to;
      if (topology.node(other).site != 0) continue;
      ++links;
      used.insert(other);
    }
    CHECK(links == 4);
  }
  CHECK(used.size() >= 4);
}

TEST_CASE("datacenters: what can't be built") {
  CHECK_THROWS_WITH(make("datacenters:sites=2"),
                    "datacenters: of is '', but it must be another network, written like [slim_fly:q=5]");
  CHECK_THROWS_WITH(make("datacenters:of=[fat_tree:k=4],sites=1"),
                    "datacenters: sites is '1', but it must be at least 2, or auto");
  CHECK_THROWS_WITH(make("datacenters:of=[fat_tree:k=4;fat_tree:k=4;fat_tree:k=4],sites=2"),
                    "datacenters: sites is '2', but `of` names 3 networks, which is that many sites");
  CHECK_THROWS_WITH(make("datacenters:of=[fat_tree:k=4],loss=1"),
                    "datacenters: loss is '1', but it must be at least 0 and below 1");
  CHECK_THROWS_WITH(make("datacenters:of=[fat_tree:k=4],loss=nan"),
                    Catch::Contains("'nan' is not a finite number"));
  CHECK_THROWS_WITH(make("datacenters:of=[fat_tree:k=4],shape=mesh"),
                    "datacenters: shape is 'mesh', but it must be full, ring, chain or star");
  CHECK_THROWS_WITH(make("datacenters:of=[fat_tree:k=4"), Catch::Contains("has a [ without its ]"));
  CHECK_THROWS_WITH(make("datacenters:of=fat_tree:k=4]"),
                    "datacenters: of is 'fat_tree:k=4]', but each [ must have its ], like [slim_fly:q=5]");
  CHECK_THROWS_WITH(make("datacenters:of=[fat_tree:k=4;]"),
                    Catch::Contains("it must be another network, written like [slim_fly:q=5]"));
  CHECK_THROWS_WITH(make("datacenters:of=[fat_tree:k=4],long_rate=0bps"),
                    Catch::Contains("it must be at least"));
}

}  // namespace weft::topologies
