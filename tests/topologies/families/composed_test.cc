// Nodes of several accelerators against the published systems.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/topologies/families/measures.h"

namespace weft::topologies {

TEST_CASE("scale-up: NVL72 has 18 switches of 72 ports and as many paths between any two accelerators") {
  const Topology topology = make("scale_up:accelerators=72,switches=18,striping=false");
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
  const Topology topology = make("scale_up:accelerators=8,switches=4,inner_links=18,striping=false");
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
  const Topology shared = make("scale_up:of=[fat_tree:k=4],accelerators=4,switches=2,nics=2,striping=false");
  CHECK(shared.hosts() == 64);
  CHECK(shared.out_channels(shared.switch_at(0)).size() == 1 + 2 + 1);
  CHECK(shared.out_channels(shared.switch_at(2)).size() == 1 + 2);
}

TEST_CASE("a network between nodes of several NICs is as wide as its family makes it") {
  // 2 leaves of 2 nodes with 8 NICs each, 2 spines: a leaf has 16 links down, and up 8 to each spine.
  const auto up_and_down = [](const std::string& network, const std::string& more) {
    const Topology topology = make("scale_up:of=[" + network + "],node=dgx_h100" + more);
    std::pair<double, double> rates;
    for (const Channel& channel : topology.channels()) {
      if (topology.node(channel.from).name != "leaf 0") continue;
      const bool is_up = topology.node(channel.to).name.starts_with("spine");
      (is_up ? rates.first : rates.second) += static_cast<double>(channel.rate.bps()) * 1e-9;
    }
    return rates;
  };
  const std::string two = "leaf_spine:leaves=2,spines=2,hosts_per_leaf=2";
  CHECK(up_and_down(two, "") == std::pair(6400.0, 6400.0));
  CHECK(up_and_down("leaf_spine:leaves=2,spines=1,hosts_per_leaf=2", "") == std::pair(3200.0, 6400.0));
  CHECK(up_and_down(two, ",outer_links=1") == std::pair(800.0, 6400.0));
  // What was set by hand stays, and what follows from it is told.
  CHECK(up_and_down(two + ",link=400Gbps", "") == std::pair(800.0, 6400.0));
  CHECK(up_and_down(two, ",nics=4") == std::pair(800.0, 3200.0));
  const auto notes = make("scale_up:of=[" + two + "],node=dgx_h100,nics=4").notes();
  CHECK(std::ranges::any_of(notes, [](const std::string& note) {
    return note.starts_with(
        "nodes bring 3.2Tbps to a switch whose links to other switches carry 800Gbps: 4.0");
  }));
}

TEST_CASE("nodes of no known kind tell how few NICs they have") {
  const auto tells = [](const std::string& text) {
    const auto notes = make(text).notes();
    return std::ranges::any_of(notes, [](const std::string& note) {
      return note.starts_with("a node has 1 NIC of 400Gbps for 8 accelerators");
    });
  };
  CHECK(tells("scale_up:of=[fat_tree:k=4]"));
  CHECK_FALSE(tells("scale_up:of=[fat_tree:k=4],nics=8"));
  CHECK_FALSE(tells("scale_up:of=[fat_tree:k=4],accelerators=1,switches=1"));
}

// What an accelerator of a node sends inside, and its NICs outside, in Gb/s.
struct Rates {
  double inside = 0, outside = 0;
  std::uint32_t nics = 0;
};

Rates rates_of(const Topology& topology, std::uint32_t accelerator) {
  Rates rates;
  const Vertex v = topology.switch_at(accelerator);
  for (const std::uint32_t c : topology.out_channels(v)) {
    const Channel& channel = topology.channels()[c];
    if (topology.node(channel.to).kind == NodeKind::kHost) continue;
    const bool inside = topology.is_inside(v, channel.to);
    (inside ? rates.inside : rates.outside) += static_cast<double>(channel.rate.bps()) * 1e-9;
    rates.nics += inside ? 0 : 1;
  }
  return rates;
}

TEST_CASE("scale-up: what is striped over is one switch with links of the joint rate") {
  const Topology one = make("scale_up:accelerators=8,switches=6,inner_links=12,inner_link=200Gbps");
  CHECK(switches_of_tier(one, 2).size() == 1);
  CHECK(links_between_switches(one) == 8);
  CHECK(rates_of(one, 3).inside == Approx(2400));
  REQUIRE(one.notes().size() == 1);
  CHECK(one.notes()[0] ==
        "inside a node 12 links of 200Gbps from an accelerator to 6 switches are one of 2.4Tbps to one "
        "switch, as "
        "bytes are striped over them; striping=false keeps them apart");
  const Topology apart =
      make("scale_up:accelerators=8,switches=6,inner_links=12,inner_link=200Gbps,striping=false");
  CHECK(switches_of_tier(apart, 2).size() == 6);
  CHECK(links_between_switches(apart) == 8 * 12);
  CHECK(rates_of(apart, 3).inside == Approx(2400));
  CHECK(apart.notes().empty());
}

TEST_CASE("scale-up: nodes as they are sold") {
  struct Sold {
    const char* node;
    std::uint32_t accelerators, switches;  // striped over
    double inside, nic;                    // Gb/s: what copies reach, and of the NIC of each accelerator
  };
  // 240, 371 and 722 GB/s over NVSwitches; 3 peers of 133, 80 and 124 GB/s; 7 of 48 (336 in all).
  for (const Sold& sold : {Sold{"dgx_a100", 8, 1, 1920, 200}, Sold{"hgx_a100", 8, 1, 1920, 200},
                           Sold{"dgx_h100", 8, 1, 2966.4, 400}, Sold{"dgx_b200", 8, 1, 5774.4, 400},
                           Sold{"gb200_nvl72", 72, 1, 5774.4, 400}, Sold{"gh200_nvl32", 32, 1, 2966.4, 400},
                           Sold{"alps", 4, 0, 3 * 1066.2, 200}, Sold{"leonardo", 4, 0, 3 * 640, 100},
                           Sold{"marenostrum5_acc", 4, 0, 3 * 988.8, 200}, Sold{"mi300x", 8, 0, 2688, 400}}) {
    INFO(sold.node);
    const Topology topology =
        make(std::string("scale_up:of=[leaf_spine:leaves=2,spines=2,hosts_per_leaf=1],node=") + sold.node);
    CHECK(topology.hosts() == 2 * sold.accelerators);
    std::size_t inner = 0;
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
      const Node& node = topology.node(topology.switch_at(s));
      inner += node.domain != kNoDomain && !node.in_host ? 1 : 0;
    }
    CHECK(inner == 2 * sold.switches);
    for (std::uint32_t a = 0; a < topology.hosts(); ++a) {
      CHECK(rates_of(topology, a).inside == Approx(sold.inside));
      CHECK(rates_of(topology, a).outside == Approx(sold.nic));
      CHECK(rates_of(topology, a).nics == 1);
    }
  }
  // Given parameters win; a network of rails has the NICs already; a slot holds a NIC back.
  const Topology given =
      make("scale_up:of=[rail_optimized:units=1,nodes=4,rails=8,spines=1],node=dgx_h100,inner_link=200Gbps");
  CHECK(rates_of(given, 0).inside == Approx(3600));
  CHECK(rates_of(given, 0).nics == 1);
  CHECK(rates_of(make("scale_up:of=[single_switch:hosts=2,link=800Gbps],node=dgx_h100"), 0).outside ==
        Approx(451.2));
  CHECK(rates_of(make("scale_up:of=[single_switch:hosts=2],node=dgx_h100,nics=2"), 0).nics == 1);
  CHECK(rates_of(make("scale_up:of=[single_switch:hosts=2],node=dgx_h100,nics=2"), 2).nics == 0);
}

TEST_CASE("scale-up: what can't be built") {
  CHECK_THROWS_WITH(make("scale_up:link=100Gbps"),
                    "scale_up: link is '100Gbps', but there is no network between nodes: give `of`");
  CHECK_THROWS_WITH(make("scale_up:outer_links=2"),
                    "scale_up: outer_links is '2', but there is no network between nodes: give `of`");
  CHECK_THROWS_WITH(make("scale_up:nics=2"),
                    "scale_up: nics is '2', but there is no network between nodes: give `of`");
  CHECK_THROWS_WITH(
      make("scale_up:of=[bcube:n=2,k=1]"),
      "scale_up: of is '[bcube:n=2,k=1]', but its hosts forward for others and can't be nodes of "
      "several accelerators");
  CHECK_THROWS_WITH(
      make("scale_up:node=dgx_h10"),
      Catch::StartsWith("scale_up: node is 'dgx_h10', but 'dgx_h10' is not a kind of node; did you "
                        "mean 'dgx_h100'?"));
}

}  // namespace weft::topologies
