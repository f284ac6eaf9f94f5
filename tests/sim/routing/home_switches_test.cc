// Homes of hosts, and ways between them: nodes of several accelerators around a dragonfly against the
// dragonfly itself.
#include "sim/routing/table/home_switches.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/routing/parts/detour_routes.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/families.h"

namespace weft::routing {
namespace {

using topologies::Topology;

Topology built(const char* text) { return topologies::build(parse_module_choice(text)); }

std::vector<std::string> homes_of(const HomeSwitches& homes, const Topology& topology, std::uint32_t host) {
  std::vector<std::string> names;
  for (const std::uint32_t v : homes.of(host)) names.push_back(topology.node(v).name);
  return names;
}

}  // namespace

TEST_CASE("home switches: those at the end of a node's nearest NICs") {
  // Four accelerators, the first two of which have a NIC.
  const Topology nodes = built("scale_up:of=[dragonfly:a=2,h=1,p=1],accelerators=4,switches=1,nics=2");
  const HomeSwitches homes(nodes);
  REQUIRE(homes.outer());
  for (std::uint32_t host = 0; host < nodes.hosts(); ++host) {
    const std::uint32_t node = host / 4;
    const std::string router = "router " + std::to_string(node / 2) + "." + std::to_string(node % 2);
    CHECK(homes_of(homes, nodes, host) == std::vector<std::string>{router});
  }
  CHECK(homes.are_among(0, 3));
  CHECK_FALSE(homes.are_among(0, 4));
  // Out of the first by its NIC, of the last over the inner switch, of that to either of those with one.
  const auto end = [&](std::uint32_t c) { return nodes.node(nodes.channels()[c].to).name; };
  for (std::uint32_t s = 0; s < nodes.switches(); ++s) {
    const std::string& name = nodes.node(nodes.switch_at(s)).name;
    std::vector<std::string> ends;
    for (const std::uint32_t c : homes.exits(s)) ends.push_back(end(c));
    if (name == "accelerator 0.0") CHECK(ends == std::vector<std::string>{"router 0.0"});
    if (name == "accelerator 0.3") CHECK(ends == std::vector<std::string>{"inner switch 0.0"});
    if (name == "inner switch 0.0")
      CHECK(ends == std::vector<std::string>{"accelerator 0.0", "accelerator 0.1"});
    if (name == "router 0.0") CHECK(ends.empty());
  }
}

TEST_CASE("home switches: a NIC that fails leaves the node's others") {
  const Topology nodes = built("scale_up:of=[dragonfly:a=2,h=1,p=1],accelerators=2,switches=1,nics=2");
  std::vector<bool> down(nodes.edges().size());
  for (std::size_t e = 0; e < down.size(); ++e) {
    const auto& edge = nodes.edges()[e];
    down[e] = nodes.node(edge.from).name == "accelerator 0.0" && nodes.node(edge.to).name == "router 0.0";
  }
  const HomeSwitches homes(nodes, down);
  CHECK(homes_of(homes, nodes, 0) == std::vector<std::string>{"router 0.0"});
  for (std::uint32_t s = 0; s < nodes.switches(); ++s) {
    if (nodes.node(nodes.switch_at(s)).name != "accelerator 0.0") continue;
    REQUIRE(homes.exits(s).size() == 1);
    CHECK(nodes.node(nodes.channels()[homes.exits(s)[0]].to).name == "inner switch 0.0");
  }
}

TEST_CASE("home switches: without nodes, those that hosts are cabled to") {
  for (const char* name : {"dragonfly:a=2,h=1,p=2", "scale_up", "fat_tree:k=4"}) {
    const Topology topology = built(name);
    const HomeSwitches homes(topology);
    CHECK_FALSE(homes.outer());
    for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
      const auto out = topology.out_channels(topology.host(host));
      REQUIRE(homes.of(host).size() == out.size());
      for (std::size_t i = 0; i < out.size(); ++i) CHECK(homes.of(host)[i] == topology.channels()[out[i]].to);
    }
  }
}

TEST_CASE("home switches: nodes on several switches need linked groups") {
  const Topology rails = built("scale_up:of=[rail_optimized:units=1,nodes=4],node=dgx_h100");
  CHECK(HomeSwitches(rails).ambiguous());
  CHECK_THROWS_WITH(DetourRoutes::check(rails), Catch::Contains("NICs on several switches"));
  const Topology frontier = built("scale_up:of=[frontier:groups=2],accelerators=4,switches=1,nics=1");
  const HomeSwitches homes(frontier);
  REQUIRE(homes.outer());
  CHECK(homes.of(0)[0] == homes.of(1)[0]);  // two NICs on each of two switches
  CHECK(homes.of(2)[0] == homes.of(3)[0]);
  CHECK(homes.of(0)[0] != homes.of(2)[0]);
}

// Links between any two outer switches, and the number of ways on, are those of the dragonfly alone.
TEST_CASE("home switches: ways between nodes are those of the network between them") {
  const Topology plain = built("dragonfly:a=4,h=2,p=1");
  const Topology nodes = built("scale_up:of=[dragonfly:a=4,h=2,p=1],accelerators=2,switches=1,nics=2");
  const RoutingTable plain_table(plain), nodes_table(nodes);
  const DetourRoutes alone(plain, plain_table), among(nodes, nodes_table);
  const std::uint32_t first = nodes.switches() - plain.switches();
  std::vector<std::uint32_t> room;
  for (std::uint32_t s = 0; s < plain.switches(); ++s) {
    REQUIRE(nodes.node(nodes.switch_at(first + s)).name == plain.node(plain.switch_at(s)).name);
    for (std::uint32_t host = 0; host < plain.hosts(); ++host) {
      for (std::uint32_t a = 0; a < 2; ++a) {
        CHECK(among.cabled(first + s, 2 * host + a) == alone.cabled(s, host));
        CHECK(among.links(first + s, 2 * host + a) == alone.links(s, host));
        if (alone.cabled(s, host)) continue;
        const std::size_t ways = alone.ports(s, host, room).size();
        CHECK(among.ports(first + s, 2 * host + a, room).size() == ways);
      }
    }
  }
}

}  // namespace weft::routing
