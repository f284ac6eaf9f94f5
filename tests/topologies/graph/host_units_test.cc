// Which hosts belong together, on a network of every family.
#include "topologies/graph/host_units.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "tests/sim/placement/small_networks.h"
#include "topologies/families.h"

namespace weft::topologies {
namespace {

// From the shape of each network; 0: such units tell nothing there.
struct Expected {
  std::uint32_t switches = 0, groups = 0;
};

const std::map<std::string, Expected>& expected() {
  static const std::map<std::string, Expected> table = {
      {"single_switch:hosts=8", {0, 0}},                            // one switch
      {"leaf_spine:leaves=4,spines=2,hosts_per_leaf=4", {4, 4}},    // a leaf is a group
      {"fat_tree2:k=4", {4, 4}},                                    // k leaves
      {"fat_tree:k=4", {8, 4}},                                     // k pods of k/2 edge switches
      {"k_ary_n_tree:k=2,n=3", {4, 2}},                             // k subtrees of the top level
      {"xgft:m=2x4x2,w=1x2x2", {8, 2}},                             // the 2 subtrees of the top level
      {"multi_plane:k=4,planes=2", {4, 4}},                         // a leaf in each plane
      {"rail_optimized:units=2,nodes=4,rails=2,spines=2", {2, 2}},  // units, with a leaf for each rail
      {"hpn:segments=2,nodes=4,rails=2,aggs=2", {2, 2}},            // segments
      {"torus:dims=4x4", {0, 0}},                                   // a router for each host
      {"torus:dims=4x3x2,hosts=2", {24, 24}},                       // routers
      {"mesh:dims=5x3", {0, 0}},
      {"hypercube:n=4", {0, 0}},
      {"hyperx:dims=3x3,hosts=2", {9, 9}},
      {"express_mesh:dims=5x4,gap=2", {0, 0}},
      {"flattened_butterfly:k=3,n=3", {9, 9}},  // k^(n-1) routers
      {"tofu:x=2,y=2,z=1", {0, 0}},
      {"fugaku:shape=4x3x2", {0, 0}},
      {"tpu_torus:dims=4x4x4", {0, 0}},                  // one cube
      {"tpu_torus:dims=8x4x4", {0, 2}},                  // two cubes
      {"hammingmesh:a=2,b=2,x=3,y=4", {0, 12}},          // boards
      {"hammingmesh:a=2,b=1,x=3,y=3,planes=2", {0, 9}},  // boards
      {"dragonfly:p=2", {36, 9}},                        // 2ph + 1 groups of 2p routers
      {"megafly:p=2", {10, 5}},                          // groups of p leaves
      {"cascade:g=2", {192, 2}},                         // groups of 96 routers
      {"bcube:n=3,k=1", {0, 3}},                         // n^k cells
      {"dcell:n=3,k=1", {0, 4}},                         // n + 1 cells
      {"slim_fly:q=3", {18, 6}},                         // 2q² routers, 2q of them alike
      {"polarfly:q=3", {13, 4}},                         // q² + q + 1 routers, q + 1 clusters
      {"polarstar:q=3,q2=5", {65, 13}},                  // a copy of the factor for each of q² + q + 1
      {"bundlefly:q1=3,q2=5", {90, 18}},                 // a copy of the factor for each of 2q²
      {"oft:k=3", {14, 7}},                              // k² - k + 1 points and lines
      {"mlfm:h=3", {12, 3}},                             // h layers of h + 1 switches
      {"spectralfly:p=3,q=5", {120, 120}},
      {"kautz:b=2,n=3", {12, 12}},  // (b + 1)·b^(n-1)
      {"delorme:q=2", {0, 0}},
      {"arrangement:n=4,k=2", {12, 12}},  // n·(n - 1)
      {"jellyfish:n=12,r=4", {12, 12}},
      {"xpander:d=3,lifts=2", {0, 4}},                                           // d + 1 metanodes
      {"random_equivalent:of=[fat_tree:k=4]", {8, 4}},                           // hosts stay where they were
      {"scale_up:of=[fat_tree2:k=4],accelerators=4,switches=1,nics=2", {0, 8}},  // nodes
      {"datacenters:of=[fat_tree:k=4; leaf_spine:leaves=2,spines=2,hosts_per_leaf=3]",
       {10, 6}},  // 8 + 2 and 4 + 2
  };
  return table;
}

std::uint32_t telling(const Topology& topology, HostUnit unit) {
  const HostUnits units = host_units(topology, unit);
  return units.missing.empty() ? units.count : 0;
}

}  // namespace

TEST_CASE("host units: switches and groups of every family") {
  for (const std::string& network : placement::small_networks()) {
    // Parts of real machines: tests/topologies/machines holds their switches and groups.
    if (network.ends_with(":groups=1")) continue;
    INFO(network);
    CHECK(expected().count(network) == 1);
  }
  for (const auto& [network, units] : expected()) {
    INFO(network);
    const Topology topology = build(parse_module_choice(network));
    CHECK(telling(topology, HostUnit::kSwitch) == units.switches);
    CHECK(telling(topology, HostUnit::kGroup) == units.groups);
    // Each host in one unit, numbered by first hosts; switches never cross groups.
    const HostUnits switches = host_units(topology, HostUnit::kSwitch);
    const HostUnits groups = host_units(topology, HostUnit::kGroup);
    std::size_t hosts = 0;
    std::uint32_t first = 0;
    for (const std::vector<std::uint32_t>& members : switches.members()) {
      REQUIRE_FALSE(members.empty());
      CHECK(members.front() >= first);
      first = members.front();
      hosts += members.size();
      for (const std::uint32_t h : members) CHECK(groups.of[h] == groups.of[members.front()]);
    }
    CHECK(hosts == topology.hosts());
  }
}

TEST_CASE("host units: racks, planes and sites where a network has them") {
  const auto count = [](const char* network, HostUnit unit) {
    return telling(build(parse_module_choice(network)), unit);
  };
  CHECK(count("hammingmesh:a=2,b=2,x=3,y=4", HostUnit::kRack) == 4);  // a row of boards stands together
  CHECK(count("slim_fly:q=3", HostUnit::kRack) == 3);                 // q pairs of groups
  CHECK(count("polarfly:q=3", HostUnit::kRack) == 4);
  CHECK(count("cascade:g=2", HostUnit::kRack) == 4);  // two cabinets a group
  CHECK(count("fat_tree:k=4", HostUnit::kRack) == 0);
  CHECK(count("multi_plane:k=4,planes=2", HostUnit::kPlane) == 0);
  CHECK(count("fat_tree:k=4", HostUnit::kPlane) == 0);
  CHECK(count("datacenters:of=[fat_tree:k=4],sites=3", HostUnit::kSite) == 3);
  CHECK(count("fat_tree:k=4", HostUnit::kSite) == 0);
  CHECK(host_units(build(parse_module_choice("multi_plane:k=4,planes=2")), HostUnit::kPlane).missing ==
        "hosts have links to several planes");
  CHECK(host_units(build(parse_module_choice("torus:dims=4x4")), HostUnit::kGroup).missing ==
        "every host is a group of its own");
  CHECK(host_units(build(parse_module_choice("single_switch:hosts=8")), HostUnit::kSwitch).missing ==
        "all hosts are on the same switches");
}

TEST_CASE("host units: a host in each of two planes of its own") {
  Topology topology("two planes");
  const Vertex a = topology.add_switch("a", 1, 0, {}, 0), b = topology.add_switch("b", 1, 0, {}, 1);
  const Link link{.rate = Bandwidth::gbps(1), .latency = {}};
  for (int i = 0; i < 4; ++i)
    topology.add_link(topology.add_host("h" + std::to_string(i)), i % 2 ? b : a, link);
  topology.add_link(a, b, link);
  topology.finish();
  const HostUnits planes = host_units(topology, HostUnit::kPlane);
  CHECK(planes.missing.empty());
  CHECK(planes.members() == std::vector<std::vector<std::uint32_t>>{{0, 2}, {1, 3}});
}

TEST_CASE("boards: rows and columns join the hosts that the numbering says") {
  const Topology topology = build(parse_module_choice("hammingmesh:a=2,b=3,x=4,y=2"));
  const BoardGrid& boards = topology.boards();
  REQUIRE(boards.x == 4);
  REQUIRE(boards.y == 2);
  REQUIRE(boards.a == 2);
  REQUIRE(boards.b == 3);
  CHECK(build(parse_module_choice("torus:dims=4x4")).boards().empty());
  // From a host to the switched lines its router has a port in.
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    const std::uint32_t j = h % 3, i = h / 3 % 2, v = h / 6 % 2, u = h / 12;
    const Vertex router = topology.channels()[topology.out_channels(topology.host(h))[0]].to;
    for (const std::uint32_t c : topology.out_channels(router)) {
      const Node& line = topology.node(topology.channels()[c].to);
      if (line.kind == NodeKind::kHost || line.in_host) continue;
      const bool row = line.name.substr(0, 3) == "row";
      CHECK(line.name == (row ? "row " + std::to_string(v * 3 + j) : "column " + std::to_string(u * 2 + i)));
    }
  }
}

}  // namespace weft::topologies
