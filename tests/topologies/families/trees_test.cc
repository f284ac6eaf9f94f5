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

// Of the given switches: how many have how many links in all.
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
