// Folded Clos networks against published counts and closed forms.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/topologies/families/measures.h"

namespace weft::topologies {
namespace {

// Counts how many of the given switches have how many links in all.
std::map<std::size_t, std::uint32_t> ports(const Topology& topology, const std::vector<Vertex>& switches) {
  std::map<std::size_t, std::uint32_t> count;
  for (const Vertex v : switches) ++count[topology.out_channels(v).size()];
  return count;
}
using Ports = std::map<std::size_t, std::uint32_t>;

}  // namespace

TEST_CASE("two-level fat tree: 2,048 hosts on 96 switches of 64 ports with 2,048 links between them") {
  const Topology topology = make("fat_tree2:k=64");
  CHECK(topology.hosts() == 2048);
  CHECK(topology.switches() == 96);
  CHECK(links_between_switches(topology) == 2048);
  std::vector<Vertex> all;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) all.push_back(topology.switch_at(s));
  CHECK(ports(topology, all) == Ports{{64, 96}});
  const std::vector<Vertex> leaves = switches_of_tier(topology, 1);
  CHECK(average_path_length(topology, leaves) == 2.0);
  CHECK(path_counts(topology, leaves[0])[leaves[63]] == 32);
  CHECK_THROWS_WITH(
      make("fat_tree2:k=7"),
      "fat_tree2: k is '7', but it must be even: each switch has k/2 ports up and k/2 down; the "
      "nearest are 6 and 8");
}

TEST_CASE("three-level fat tree of 64-port switches: 65,536 hosts, 5,120 switches, 131,072 links") {
  const Topology topology = make("fat_tree:k=64");
  CHECK(topology.hosts() == 65536);
  CHECK(topology.switches() == 5120);
  CHECK(links_between_switches(topology) == 131072);
}

TEST_CASE("leaf-spine: links up that are no multiple of the spines are spread evenly") {
  // 25 leaves with 42 ports down and 22 up: 550 links on 9 spines of 64 ports.
  const Topology topology = make("leaf_spine:leaves=25,spines=9,hosts_per_leaf=42,uplinks=22");
  CHECK(topology.hosts() == 1050);
  CHECK(links_between_switches(topology) == 550);
  CHECK(ports(topology, switches_of_tier(topology, 1)) == Ports{{64, 25}});
  CHECK(ports(topology, switches_of_tier(topology, 2)) == Ports{{61, 8}, {62, 1}});
  CHECK_THROWS_WITH(make("leaf_spine:leaves=2,spines=2,hosts_per_leaf=2,uplinks=3,links_per_pair=2"),
                    "leaf_spine: uplinks is '3', but links_per_pair is given too; leave one of them out");
}

TEST_CASE("leaf-spine with cores: as many links above the spines as below, spread evenly") {
  const Topology topology = make("leaf_spine:leaves=9,spines=4,hosts_per_leaf=5,uplinks=3,cores=2");
  CHECK(switches_of_tier(topology, 3).size() == 2);
  CHECK(links_between_switches(topology) == 2 * 9 * 3);
  CHECK(ports(topology, switches_of_tier(topology, 2)) == Ports{{12, 1}, {14, 3}});
  CHECK(ports(topology, switches_of_tier(topology, 3)) == Ports{{13, 1}, {14, 1}});
  CHECK_THROWS_WITH(make("leaf_spine:leaves=2,spines=2,hosts_per_leaf=2,cores=-1"),
                    "leaf_spine: cores is '-1', but it must be from 0 to 65536; the nearest is 0");
}

TEST_CASE("k-ary n-tree: switches, links, diameter and number of shortest paths") {
  for (const std::uint32_t k : {2u, 3u, 4u}) {
    for (const std::uint32_t n : {1u, 2u, 3u, 4u}) {
      const Topology topology = make("k_ary_n_tree:k=" + std::to_string(k) + ",n=" + std::to_string(n));
      INFO(topology.name());
      std::uint32_t level = 1;  // k^(n-1)
      for (std::uint32_t i = 1; i < n; ++i) level *= k;
      CHECK(topology.switches() == n * level);
      CHECK(topology.hosts() == k * level);
      CHECK(links_between_switches(topology) == (n - 1) * level * k);
      for (std::uint32_t tier = 1; tier <= n; ++tier) {
        CHECK(ports(topology, switches_of_tier(topology, static_cast<int>(tier))) ==
              Ports{{tier == n ? k : 2 * k, level}});
      }
      const std::vector<Vertex> leaves = switches_of_tier(topology, 1);
      CHECK(path_lengths(topology, leaves).diameter == static_cast<int>(2 * (n - 1)));
      // Up to any of the k^(n-1) roots, and down in one way.
      CHECK(path_counts(topology, leaves.front())[leaves.back()] == level);
    }
  }
}

TEST_CASE("XGFT: nodes and links by level, and the fat tree as one") {
  // XGFT(3; 4, 3, 2; 1, 2, 3): tapered 2:1 above level 1.
  const Topology tapered = make("xgft:m=4x3x2,w=1x2x3");
  CHECK(tapered.hosts() == 4 * 3 * 2);
  CHECK(ports(tapered, switches_of_tier(tapered, 1)) == Ports{{4 + 2, 3 * 2}});
  CHECK(ports(tapered, switches_of_tier(tapered, 2)) == Ports{{3 + 3, 2 * 2}});
  CHECK(ports(tapered, switches_of_tier(tapered, 3)) == Ports{{2, 2 * 3}});
  CHECK(path_counts(tapered, tapered.switch_at(0))[tapered.switch_at(5)] == 2 * 3);
  // Hosts with two links, to different switches.
  const Topology dual = make("xgft:m=4x2,w=2x1");
  CHECK(dual.hosts() == 8);
  CHECK(dual.switches() == 2 * 2 + 2);
  for (std::uint32_t h = 0; h < 8; ++h) CHECK(dual.out_channels(dual.host(h)).size() == 2);

  const Topology tree = make("fat_tree:k=8"), same = make("xgft:m=4x4x8,w=1x4x4");
  CHECK(same.hosts() == tree.hosts());
  CHECK(same.switches() == tree.switches());
  CHECK(links_between_switches(same) == links_between_switches(tree));
  CHECK(average_path_length(same, switches_of_tier(same, 1)) == Approx(3.8065).margin(5e-5));
  // Leaves are in the same order, so that distances are the same too.
  const std::vector<Vertex> a = switches_of_tier(tree, 1), b = switches_of_tier(same, 1);
  const std::vector<int> from_a = distances(tree, a[5]), from_b = distances(same, b[5]);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(from_a[a[i]] == from_b[b[i]]);
}

TEST_CASE("multi-plane: 131,072 hosts in two tiers of 512-port switches, 8 planes of 100 Gb/s") {
  const Topology topology = make("multi_plane:k=512,planes=8,link=100Gbps");
  CHECK(topology.hosts() == 131'072);
  CHECK(topology.switches() == 8 * (512 + 256));
  CHECK(links_between_switches(topology) == 8 * 131'072);
  // Leaf, spine, leaf: three switches at most.
  const std::vector<int> apart = distances(topology, topology.switch_at(0));
  for (std::uint32_t leaf = 1; leaf < 512; ++leaf) CHECK(apart[topology.switch_at(leaf)] == 2);
}

TEST_CASE("multi-plane: 2,048 hosts of 8 NICs on 768 switches with 16,384 links between them") {
  const Topology topology = make("multi_plane:k=64");
  CHECK(topology.hosts() * 8 == 16384);
  CHECK(topology.switches() == 768);
  CHECK(links_between_switches(topology) == 16384);
  for (const std::uint32_t h : {0u, 31u, 32u, 2047u}) {
    const auto nics = topology.out_channels(topology.host(h));
    REQUIRE(nics.size() == 8);
    for (std::uint32_t plane = 0; plane < 8; ++plane) {
      const Vertex leaf = topology.channels()[nics[plane]].to;
      CHECK(topology.node(leaf).plane == plane);
      CHECK(topology.node(leaf).index == plane * 64 + h / 32);
    }
  }
  // Planes meet in hosts only.
  for (const auto& [a, b] : joined_switches(topology)) {
    CHECK(topology.node(topology.switch_at(a)).plane == topology.node(topology.switch_at(b)).plane);
  }
}

TEST_CASE("rail-optimized: leaves and spines of a DGX SuperPOD with 1 to 4 units") {
  const std::uint32_t spines[] = {4, 8, 16, 16};
  for (std::uint32_t units = 1; units <= 4; ++units) {
    const Topology topology = make("rail_optimized:units=" + std::to_string(units));
    CHECK(topology.hosts() == 32 * units);
    CHECK(ports(topology, switches_of_tier(topology, 1)) == Ports{{64, 8 * units}});
    const Ports of_spines = ports(topology, switches_of_tier(topology, 2));
    CHECK(of_spines == Ports{{8 * units * 32 / spines[units - 1], spines[units - 1]}});
    CHECK(of_spines.rbegin()->first <= 64);
  }
  const Topology topology = make("rail_optimized:units=2,nodes=4,rails=4");
  for (std::uint32_t h = 0; h < 8; ++h) {
    const auto nics = topology.out_channels(topology.host(h));
    for (std::uint32_t r = 0; r < 4; ++r) {
      CHECK(topology.node(topology.channels()[nics[r]].to).index == h / 4 * 4 + r);
    }
  }
  // Units of few hosts have spines of 64 ports: 16 leaves of 4 links up.
  const Topology small = make("rail_optimized:units=2,nodes=4");
  CHECK(small.hosts() == 8);
  CHECK(ports(small, switches_of_tier(small, 1)) == Ports{{8, 16}});
  CHECK(ports(small, switches_of_tier(small, 2)) == Ports{{64, 1}});
  CHECK_THROWS_WITH(make("rail_optimized:units=9"),
                    Catch::Contains("72 leaves need a port each on a spine, which has 64: at most 8 units"));
  CHECK_THROWS_WITH(make("rail_optimized:units=2,spines=12"),
                    "rail_optimized: spines is '12', but it must divide the 32 links up of a leaf");
}

TEST_CASE("HPN: ports of a pod's switches as published") {
  const Topology topology = make("hpn:segments=15");
  CHECK(topology.hosts() * 8 == 15360);
  // Leaves with 128 ports down and 60 up, aggregation switches with 120 down.
  CHECK(ports(topology, switches_of_tier(topology, 1)) == Ports{{188, 15 * 16}});
  CHECK(ports(topology, switches_of_tier(topology, 2)) == Ports{{120, 2 * 60}});
  const auto nics = topology.out_channels(topology.host(300));
  REQUIRE(nics.size() == 16);
  for (std::uint32_t i = 0; i < 16; ++i) {
    const Channel& up = topology.channels()[nics[i]];
    CHECK(topology.node(up.to).plane == i % 2);
    CHECK(topology.node(up.to).index == 2 * 16 + i);
    CHECK(up.rate == Bandwidth::gbps(200));
  }
}

TEST_CASE("trees: what can't be built") {
  const auto check = [](const std::string& short_form, const std::string& message) {
    CHECK_THROWS_WITH(make(short_form), message);
  };
  check("xgft:m=4x4,w=1x2x2", "xgft: w is '1x2x2', but it must have as many numbers as m, 2");
  check("xgft:m=4y4,w=1x2",
        "xgft: m is '4y4', but it must be sizes of 1 or more, written like 8x8x4 or [8,8,4]");
  check("xgft:m=4x4x4,w=2048x2048x1",
        "xgft: m is '4x4x4', but that makes 67108864 links above level 1; at most 33554432 can be had");
  check("k_ary_n_tree:k=64,n=4", "k_ary_n_tree: n is '4', but k^n must be at most 4194304 hosts");
}

TEST_CASE("trees: sizes for a number of endpoints are the least") {
  CHECK(make("fat_tree2:endpoints=2048").hosts() == 2048);
  CHECK(make("fat_tree2:endpoints=2049").hosts() == 66 * 66 / 2);
  CHECK(make("fat_tree:endpoints=1024").switches() == 320);     // k = 16
  CHECK(make("fat_tree:endpoints=1025").switches() == 5 * 81);  // k = 18
  CHECK(make("single_switch:endpoints=1000").hosts() == 1000);
  const Topology topology = make("leaf_spine:endpoints=1000");  // 2·23² is the first above
  CHECK(topology.hosts() == 44 * 23);
  CHECK(topology.switches() == 44 + 23);
}

}  // namespace weft::topologies
