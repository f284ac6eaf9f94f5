// Nodes of several accelerators against the published systems.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/topologies/families/measures.h"

namespace weft::topologies {

TEST_CASE("scale-up: NVL72 has 18 switches of 72 ports and as many paths between any two accelerators") {
  const Topology topology = make("scale_up:accelerators=72,switches=18");
  CHECK(topology.hosts() == 72);
  CHECK(links_between_switches(topology) == 72 * 18);
  const std::vector<Vertex> switches = switches_of_tier(topology, 2);
  CHECK(switches.size() == 18);
  for (const Vertex v : switches) CHECK(topology.out_channels(v).size() == 72);
  const std::vector<Vertex> accelerators = switches_of_tier(topology, 1);
  const std::vector<std::uint64_t> paths = path_counts(topology, accelerators[0]);
  CHECK(average_path_length(topology, accelerators) == 2.0);
  for (std::size_t i = 1; i < 72; ++i) CHECK(paths[accelerators[i]] == 18);
}

TEST_CASE("scale-up: DGX H100 spreads 18 links over 4 switches") {
  const Topology topology = make("scale_up:accelerators=8,switches=4,inner_links=18");
  const std::vector<Vertex> switches = switches_of_tier(topology, 2);
  REQUIRE(switches.size() == 4);
  CHECK(topology.out_channels(switches[0]).size() == 8 * 5);
  CHECK(topology.out_channels(switches[1]).size() == 8 * 5);
  CHECK(topology.out_channels(switches[2]).size() == 8 * 4);
  CHECK(topology.out_channels(switches[3]).size() == 8 * 4);
  const Topology pairs = make("scale_up:accelerators=8,switches=0");
  CHECK(links_between_switches(pairs) == 28);
}

TEST_CASE("scale-up: nodes in place of the hosts of other networks") {
  // NIC i of a node is accelerator i's.
  const Topology planes =
      make("scale_up:of=[multi_plane:k=4,planes=4],accelerators=4,switches=1,link=100Gbps");
  const Topology outer = make("multi_plane:k=4,planes=4");
  CHECK(planes.hosts() == 8 * 4);
  CHECK(planes.switches() == 8 * 4 + 8 * 1 + outer.switches());
  CHECK(links_between_switches(planes) == links_between_switches(outer) + 8 * 4 + 8 * 4);
  for (std::uint32_t a = 0; a < 32; ++a) {
    std::uint32_t nics = 0;
    for (const std::uint32_t c : planes.out_channels(planes.switch_at(a))) {
      const Channel& channel = planes.channels()[c];
      if (planes.node(channel.to).kind == NodeKind::kHost || planes.node(channel.to).group < 8) continue;
      ++nics;
      CHECK(planes.node(channel.to).plane == a % 4);
      CHECK(channel.rate == Bandwidth::gbps(100));
    }
    CHECK(nics == 1);
  }
  // Across planes one of the two nodes hands on: switch, accelerator, leaf (and spine and leaf).
  CHECK(distances(planes, planes.switch_at(0))[planes.switch_at(5)] == 4);
  const Topology shared = make("scale_up:of=[fat_tree:k=4],accelerators=4,switches=2,nics=2");
  CHECK(shared.hosts() == 64);
  CHECK(shared.out_channels(shared.switch_at(0)).size() == 1 + 2 + 1);
  CHECK(shared.out_channels(shared.switch_at(2)).size() == 1 + 2);
}

TEST_CASE("scale-up: what can't be built") {
  CHECK_THROWS_WITH(make("scale_up:link=100Gbps"),
                    "scale_up: link is '100Gbps', but there is no network between nodes: give `of`");
  CHECK_THROWS_WITH(
      make("scale_up:of=[bcube:n=2,k=1]"),
      "scale_up: of is '[bcube:n=2,k=1]', but its hosts forward for others and can't be nodes of "
      "several accelerators");
  CHECK_THROWS_WITH(
      make("scale_up:switches=0,inner_links=2"),
      "scale_up: inner_links is '2', but without switches there are links in pairs; leave it out");
}

}  // namespace weft::topologies
