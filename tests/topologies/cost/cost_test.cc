#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/units/input_error.h"
#include "topologies/cost/bill.h"
#include "topologies/families.h"

namespace weft::topologies {
namespace {

Topology make(const std::string& short_form) { return build(parse_module_choice(short_form)); }

constexpr const char* kTwoCables = R"(
  racks { hosts: 4 }
  switch { ports: 8 rate: "100Gbps" price: 1000 watts: 100 }
  switch { ports: 16 rate: "100Gbps" price: 3000 watts: 150 }
  switch { ports: 8 rate: "400Gbps" price: 5000 watts: 300 }
  cable { name: "copper" kind: COPPER rate: "100Gbps" up_to_m: 2 price: 10 }
  cable { name: "optical" kind: OPTICAL price: 100 price_per_m: 1 watts: 5 }
  nic { rate: "100Gbps" price: 50 watts: 2 }
)";

std::map<std::string, BillLine> by_item(const Bill& bill) {
  std::map<std::string, BillLine> lines;
  for (const BillLine& line : bill.lines) lines[line.item] = line;
  return lines;
}

// A network of switches that are accelerators' own, linked as a torus whose boards of 2x2 hold their own
// links.
Topology torus_of_boards(std::uint32_t side) {
  Topology topology(fmt::format("torus of {0}x{0} accelerators", side));
  std::vector<Vertex> router;
  const Link inside{.rate = Bandwidth::gbps(1600), .latency = {}};
  for (std::uint32_t i = 0; i < side * side; ++i) {
    router.push_back(
        topology.add_host_router(fmt::format("accelerator {}", i), i / side / 2 * side + i % side / 2));
    topology.add_link(topology.add_host(fmt::format("host {}", i)), router.back(), inside);
  }
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t x = 0; x < side; ++x) {
      Link link{.rate = Bandwidth::gbps(400), .latency = Time::ns(10)};
      link.cable = x % 2 == 0 ? CableKind::kBackplane : CableKind::kOptical;
      topology.add_link(router[y * side + x], router[y * side + (x + 1) % side], link);
      link.cable = y % 2 == 0 ? CableKind::kBackplane : CableKind::kOptical;
      topology.add_link(router[y * side + x], router[(y + 1) % side * side + x], link);
    }
  }
  topology.finish();
  return topology;
}

// 16 pods of 32 leaves with 32 hosts each and 32 switches above them, 256 cores: all of 64 ports.
Topology three_tiers() {
  Topology topology("three tiers of 64-port switches");
  const Link link{.rate = Bandwidth::gbps(400), .latency = Time::ns(10)};
  std::vector<Vertex> core, leaf, upper;
  for (std::uint32_t c = 0; c < 256; ++c)
    core.push_back(topology.add_switch(fmt::format("core {}", c), 3, 16));
  for (std::uint32_t pod = 0; pod < 16; ++pod) {
    for (std::uint32_t i = 0; i < 32; ++i) {
      leaf.push_back(topology.add_switch(fmt::format("leaf {}.{}", pod, i), 1, pod));
      upper.push_back(topology.add_switch(fmt::format("upper {}.{}", pod, i), 2, pod));
      for (std::uint32_t h = 0; h < 32; ++h) {
        topology.add_link(topology.add_host(fmt::format("host {}", topology.hosts()), pod), leaf.back(),
                          link);
        topology.add_link(upper.back(), core[8 * i + h / 4], link);
      }
    }
    for (std::uint32_t i = 0; i < 32 * 32; ++i) {
      topology.add_link(leaf[pod * 32 + i / 32], upper[pod * 32 + i % 32], link);
    }
  }
  topology.finish();
  return topology;
}

// Counts of one plane, and the price of all planes.
void check_row(const Topology& topology, std::uint32_t planes, std::uint64_t switches, std::uint64_t copper,
               std::uint64_t optical, double millions) {
  INFO(topology.name());
  const Bill sum = bill(topology, find_price_list("hammingmesh_sc22"), planes);
  auto lines = by_item(sum);
  CHECK(sum.count(Part::kSwitch) == planes * switches);
  CHECK(lines["5 m DAC"].count == planes * copper);
  CHECK(lines["20 m AoC"].count == planes * optical);
  const auto known = static_cast<double>(switches * 14280 + copper * 272 + optical * 603);
  CHECK(sum.price == planes * known);
  CHECK(sum.price / 1e6 == Approx(millions).margin(millions < 100 ? 0.005 : 0.05));
}

}  // namespace

TEST_CASE("switches: what was chosen over what, and one that is pinned") {
  PriceList list = parse_price_list(kTwoCables, "t");
  const Topology tree = make("fat_tree:k=8,link=100Gbps");  // 80 switches of 8 ports
  const auto switches = [&] {
    for (const BillLine& line : bill(tree, list).lines) {
      if (line.part == Part::kSwitch) return line;
    }
    return BillLine();
  };
  CHECK(switches().entry == "8x100Gbps");
  CHECK(switches().price == 80 * 1000);
  REQUIRE(switches().over.size() == 2);
  CHECK(switches().over[0].name == "16x100Gbps");
  CHECK(switches().over[0].price == 3000);
  CHECK(switches().over[1].name == "8x400Gbps");
  pin_switches(list, {"8x400Gbps"});
  CHECK(switches().entry == "8x400Gbps");
  CHECK(switches().price == 80 * 5000);
  CHECK(switches().over.empty());
  CHECK_THROWS_WITH(pin_switches(list, {"8x100Gbps"}),
                    Catch::Contains("'8x100Gbps' is not a switch of price list t"));
  const PriceList named =
      parse_price_list("switch { ports: 8 rate: \"400Gbps\" price: 1000 name: \"QM9700\" }", "t");
  CHECK(named.switches[0].name == "QM9700");
}

TEST_CASE("cost: the small systems of the HammingMesh cost table") {
  check_row(make("leaf_spine:leaves=32,spines=16,hosts_per_leaf=32,links_per_pair=2,link=400Gbps"), 16, 48,
            1024, 1024, 25.30);
  check_row(make("hammingmesh:a=1,b=1,x=32,y=32,link=400Gbps"), 4, 64, 2048, 2048, 10.82);
  check_row(make("hammingmesh:a=2,b=2,x=16,y=16,link=400Gbps"), 4, 32, 1024, 1024, 5.41);
  check_row(make("hammingmesh:a=4,b=4,x=8,y=8,link=400Gbps"), 4, 16, 512, 512, 2.71);
  // 128 routers of 31 ports, two to a switch.
  check_row(make("dragonfly:p=8,a=16,h=8,g=8,links_per_pair=18,link=400Gbps"), 16, 64, 1984, 504, 28.12);
  check_row(torus_of_boards(32), 4, 0, 0, 1024, 2.47);
  // Chosen so that they come near the totals that are remembered of the paper, so they prove nothing about
  // it: 42 ports down and 22 up, and 51 and 13.
  check_row(make("leaf_spine:leaves=25,spines=9,hosts_per_leaf=42,uplinks=22,link=400Gbps"), 16, 34, 1050,
            550, 17.64);
  check_row(make("leaf_spine:leaves=21,spines=5,hosts_per_leaf=51,uplinks=13,link=400Gbps"), 16, 26, 1071,
            273, 13.24);
}

TEST_CASE("cost: the large systems of the HammingMesh cost table") {
  check_row(make("hammingmesh:a=1,b=1,x=128,y=128,link=400Gbps"), 4, 3072, 32768, 98304, 448.2);
  check_row(make("hammingmesh:a=2,b=2,x=64,y=64,link=400Gbps"), 4, 1536, 16384, 49152, 224.1);
  check_row(make("hammingmesh:a=4,b=4,x=32,y=32,link=400Gbps"), 4, 256, 8192, 8192, 43.295);
  check_row(torus_of_boards(128), 4, 0, 0, 16384, 39.52);
  check_row(three_tiers(), 16, 1280, 16384, 32768, 679.9);
  // 30 groups of 32 switches with 17 endpoints each: all in a group stands together. 512 global ports of a
  // group make 17 links to each other, and one more to 19 of them.
  check_row(make("dragonfly:p=17,a=32,h=16,g=30,link=400Gbps"), 16, 960, 16320 + 14880, 7680, 429.2);
  // As above, chosen to come near the totals.
  check_row(make("leaf_spine:leaves=390,spines=269,hosts_per_leaf=42,uplinks=22,cores=135,link=400Gbps"), 16,
            390 + 269 + 135, 16380, 17160, 418.3);
  check_row(make("leaf_spine:leaves=322,spines=131,hosts_per_leaf=51,uplinks=13,cores=66,link=400Gbps"), 16,
            322 + 131 + 66, 16422, 8372, 270.8);
}

TEST_CASE("cost: the Slim Fly model, in closed form") {
  // q=5: 50 routers of 7 + 4 ports, in 5 racks of 10 if groups are paired, or 10 of 5. Copper within.
  const PriceList prices = find_price_list("slim_fly_sc14");
  const Topology topology = make("slim_fly:q=5,link=40Gbps");
  const Bill sum = bill(topology, prices);
  auto lines = by_item(sum);
  const BillLine& routers = lines["switch of 11 ports, by formula"];
  CHECK(routers.count == 50);
  CHECK(routers.price == Approx(50 * (350.4 * 11 - 892.3)));
  CHECK(routers.watts == Approx(50 * 11 * 2.8));
  CHECK(sum.watts.value() == Approx(50 * 11 * 2.8));
  const BillLine &copper = lines["electric cable"], &optical = lines["optical cable"];
  CHECK(copper.count + optical.count == 175 + 200);
  CHECK(copper.length_m == Approx(copper.count));  // 1 m each
  CHECK(copper.price == Approx(40 * (0.4079 + 0.5771) * copper.count));
  CHECK(optical.length_m >= 3.0 * optical.count);
  CHECK(optical.price == Approx(40 * (0.0919 * optical.length_m + 2.7452 * optical.count)));
  CHECK_THROWS_WITH(bill(make("slim_fly:q=5,link=100Gbps"), prices),
                    Catch::Matchers::Contains("11 ports of 100Gbps"));
}

TEST_CASE("cost: a bill by hand") {
  // 2 leaves with 4 hosts each, a rack each; 1 spine, a rack: 3 racks in a grid 2 wide.
  const Topology topology =
      make("leaf_spine:leaves=2,spines=1,hosts_per_leaf=4,links_per_pair=4,link=100Gbps");
  const Bill sum = bill(topology, parse_price_list(kTwoCables, "test"), 3);
  CHECK(sum.racks == 3);
  CHECK(sum.endpoints == 8);
  CHECK(sum.injection_bps == 3 * 8 * 100e9);
  auto lines = by_item(sum);
  REQUIRE(lines.size() == 4);
  const BillLine& switches = lines["switch of 8 ports of 100Gbps, 8 in use"];
  CHECK(switches.count == 9);
  CHECK(switches.price == 9000);
  CHECK(switches.watts == 900);
  CHECK(lines["copper"].count == 24);
  CHECK(lines["copper"].price == 240);
  // The spine stands between the leaves in the row of racks: 3 m to one, and 1 + 1 + 2 m to the other, in the
  // next row.
  CHECK(lines["optical"].count == 24);
  CHECK(lines["optical"].length_m == 3 * (4 * 3 + 4 * 4));
  CHECK(lines["optical"].price == 24 * 100 + 3 * (4 * 3 + 4 * 4));
  CHECK(lines["optical"].watts == 120);
  CHECK(lines["NIC port of 100Gbps"].count == 24);
  CHECK(lines["NIC port of 100Gbps"].price == 1200);
  CHECK(sum.price == 9000 + 240 + 24 * 100 + 84 + 1200);
  CHECK(sum.watts == 900 + 120 + 48);
}

TEST_CASE("cost: a list without watts tells nothing of power") {
  // 20 switches of 4 ports share 64-port ones: 16 fit one, so 2 are needed, with 80 of their 128 ports in
  // use.
  const Topology tree = make("fat_tree:k=4,link=400Gbps");
  const Bill unknown = bill(tree, find_price_list("hammingmesh_sc22"));
  CHECK_FALSE(unknown.watts);
  const std::string table = bill_table(unknown, {}), json = bill_json(unknown, {});
  using Catch::Matchers::Contains;
  CHECK_THAT(table, Contains("power not known: the list gives no watts") && !Contains(" W ("));
  CHECK_THAT(json, Contains("\"watts\": null") && Contains("\"watts_per_endpoint\": null"));
  CHECK_THAT(json, !Contains("\"watts\": 0"));
  // One figure says that power is known; a passive cable takes none.
  const PriceList some = parse_price_list(
      "switch { ports: 4 rate: \"400Gbps\" price: 1 watts: 3 }\ncable { name: \"any\" kind: COPPER price: 0 "
      "}\n",
      "some");
  CHECK(bill(tree, some).watts == 20 * 3);
  CHECK(left_out_of(some) == "NICs");
  CHECK(left_out_of(find_price_list("hammingmesh_sc22")) == "NICs and power");
  CHECK(left_out_of(find_price_list("slim_fly_sc14")) == "NICs");
  CHECK(left_out_of(find_price_list("modern")).empty());
}

TEST_CASE("cost: how many ports of shared switches are in use") {
  const PriceList prices = find_price_list("hammingmesh_sc22");
  const auto first = [&](const char* network, std::uint32_t planes) {
    return bill(make(network), prices, planes).lines.at(0);
  };
  // 20 switches of 4 ports, 16 to one of 64.
  const BillLine tree = first("fat_tree:k=4,link=400Gbps", 1);
  CHECK(tree.item == "switch of 64 ports of 400Gbps, 80 of 128 in use");
  CHECK((tree.count == 2 && tree.ports == 128 && tree.ports_used == 80));
  CHECK(first("fat_tree:k=4,link=400Gbps", 3).item == "switch of 64 ports of 400Gbps, 240 of 384 in use");
  const std::string list =
      "shared_switches: true\nswitch { ports: 8 rate: \"400Gbps\" price: 100 }\n"
      "cable { name: \"any\" kind: OPTICAL price: 0 }\n";
  // Leaves of 3 + 1 ports, two to a switch: 3 of 5; a spine of 5 ports alone.
  const Bill leaves = bill(make("leaf_spine:leaves=5,spines=1,hosts_per_leaf=3,link=400Gbps"),
                           parse_price_list(list, "test"));
  auto lines = by_item(leaves);
  CHECK(lines["switch of 8 ports of 400Gbps, 20 of 24 in use"].count == 3);
  CHECK(lines["switch of 8 ports of 400Gbps, 5 in use"].count == 1);
  // Leaves of 3 + 1 ports, two to a switch, and a spine of 8: all have 8 in use, and are still counted apart.
  const Bill full = bill(make("leaf_spine:leaves=8,spines=1,hosts_per_leaf=3,link=400Gbps"),
                         parse_price_list(list, "test"));
  CHECK(full.count(Part::kSwitch) == 4 + 1);
  CHECK(full.lines.at(0).item == "switch of 8 ports of 400Gbps, 8 in use");
}

TEST_CASE("cost: the cheapest switch that has the ports at the rate") {
  const PriceList prices = parse_price_list(kTwoCables, "test");
  const auto item = [&](const char* network) { return bill(make(network), prices).lines.at(0).item; };
  CHECK(item("single_switch:hosts=3,link=100Gbps") == "switch of 8 ports of 100Gbps, 3 in use");
  CHECK(item("single_switch:hosts=9,link=100Gbps") == "switch of 16 ports of 100Gbps, 9 in use");
  CHECK_THROWS_WITH(item("single_switch:hosts=17,link=100Gbps"),
                    Catch::Matchers::Contains("17 ports of 100Gbps"));
  CHECK_THROWS_WITH(item("single_switch:hosts=2,link=200Gbps"),
                    Catch::Matchers::Contains("no NIC for 200Gbps"));
}

TEST_CASE("cost: a port split into slower ones") {
  const std::string list =
      "switch { ports: 128 rate: \"400Gbps\" price: 5000 }\n"
      "cable { name: \"any\" kind: OPTICAL price: 0 }\n";
  const PriceList whole = parse_price_list(list, "whole"),
                  split = parse_price_list("split_ports: true\n" + list, "split");
  // A leaf of HPN: 128 ports of 200 Gb/s to hosts, 60 of 400 Gb/s up.
  const Topology hpn = make("hpn:segments=2,rails=1,nodes=128");
  CHECK_THROWS_WITH(bill(hpn, whole), Catch::Matchers::Contains("188 ports of 400Gbps"));
  auto lines = by_item(bill(hpn, split));
  CHECK(lines["switch of 128 ports of 400Gbps, 124 in use"].count == 2 * 2);
  // 256 ports of 200 Gb/s, or 512 of 100 Gb/s; 257 are one too many.
  const auto item = [&](const char* network) { return bill(make(network), split).lines.at(0).item; };
  CHECK(item("single_switch:hosts=256,link=200Gbps") == "switch of 128 ports of 400Gbps, 128 in use");
  CHECK(item("single_switch:hosts=512,link=100Gbps") == "switch of 128 ports of 400Gbps, 128 in use");
  CHECK_THROWS_AS(item("single_switch:hosts=257,link=200Gbps"), InputError);
}

TEST_CASE("cost: a chassis of switches, where none is large enough") {
  const PriceList list = parse_price_list(
      "chassis: true\nswitch { ports: 8 rate: \"400Gbps\" price: 1000 watts: 10 }\n"
      "switch { ports: 16 rate: \"400Gbps\" price: 1900 watts: 15 }\ncable { name: \"any\" kind: OPTICAL "
      "price: 0 }\n",
      "test");
  // 20 ports: 5 + 3 switches of 8 cost 8,000 $; 3 + 2 of 16 cost 9,500 $.
  const Bill twenty = bill(make("single_switch:hosts=20"), list);
  const BillLine& line = twenty.lines.at(0);
  CHECK(line.item == "chassis of 20 ports of 400Gbps, 20 in use: 8 switches of 8");
  CHECK(line.count == 1);
  CHECK(line.price == 8000);
  CHECK(line.watts == 80);
  CHECK(line.ports == 20);
  // 128 ports are the most: 16 leaves of 8 outside, 8 spines.
  CHECK(bill(make("single_switch:hosts=128"), list).lines.at(0).price == 24 * 1900);
  CHECK_THROWS_AS(bill(make("single_switch:hosts=129"), list), InputError);
}

TEST_CASE("cost: what is inside of nodes belongs to them") {
  const std::string rails = "rail_optimized:units=4,nodes=32";
  const PriceList prices = find_price_list("modern");
  const Bill alone = bill(make(rails), prices);
  const Bill nodes = bill(make("scale_up:of=[" + rails + "],accelerators=8"), prices);
  // A node takes the room of the host that it stands for. Leaves stand in racks of their own, as they serve
  // accelerators' routers, so that cables are some metres longer.
  CHECK(nodes.price == Approx(alone.price).epsilon(0.02));
  CHECK(nodes.count(Part::kSwitch) == alone.count(Part::kSwitch));
  CHECK(nodes.count(Part::kCable) == alone.count(Part::kCable));
  CHECK(nodes.count(Part::kNic) == 128 * 8);
  CHECK(nodes.injection_bps == Approx(128 * 8 * 400e9));
  CHECK(nodes.lines.back().item == "node of 8 accelerators, not priced");
  CHECK(nodes.lines.back().count == 128);
  // Whatever rate links have inside, and with a price of the whole node.
  PriceList with_nodes = prices;
  with_nodes.node = {300'000, 10'000};
  const Bill priced = bill(make("scale_up:of=[" + rails + "],node=dgx_b200"), with_nodes);
  CHECK(priced.price == Approx(nodes.price + 128 * 300'000.0));
  CHECK(priced.lines.back().item == "node of 8 accelerators");
}

TEST_CASE("cost: the bill says what most of it buys, and how much of that is used") {
  const Bill torus =
      bill(make("torus:dims=4x4"), parse_price_list("switch { ports: 10 rate: \"400Gbps\" price: 1000 "
                                                    "}\ncable { name: \"any\" kind: OPTICAL price: 1 }",
                                                    "t"));
  CHECK(torus.lines.at(0).ports == 160);
  CHECK(torus.lines.at(0).ports_used == 80);
  CHECK_THAT(
      bill_table(torus, {}),
      Catch::Matchers::Contains(
          "largest part            switches, 99.7% of the price; 50.0% of the switches' ports are in use\n"));
}

TEST_CASE("cost: sites have racks of their own, and long links between them are leased") {
  const Topology topology =
      make("datacenters:of=[leaf_spine:leaves=2,spines=2,hosts_per_leaf=4],long_links=3,long_latency=1ms");
  const PriceList list = parse_price_list(R"(
    racks { hosts: 4 }
    switch { ports: 64 rate: "400Gbps" price: 1000 }
    cable { name: "near" kind: OPTICAL price: 10 }
    cable { name: "far" kind: LONG_HAUL rate: "400Gbps" price: 5000 price_per_m: 0.5 watts: 30 }
  )",
                                          "test");
  auto lines = by_item(bill(topology, list));
  // Light takes 1 ms for 299,792.458 km/s / 1.468 * 1 ms = 204.2 km.
  const double metres = 299'792'458.0 / 1.468 / 1000;
  CHECK(lines["far"].count == 3);
  CHECK(lines["far"].length_m == Approx(3 * metres));
  CHECK(lines["far"].price == Approx(3 * (5000 + 0.5 * metres)));
  CHECK(lines["far"].watts == 90);
  // In a site 8 links to hosts, 4 from leaves to spines, 2 to the border switch.
  CHECK(lines["near"].count == 2 * (8 + 4 + 2));
  CHECK_THROWS_WITH(bill(topology, find_price_list("hammingmesh_sc22")),
                    Catch::Matchers::Contains("no long-haul cable"));

  const Placement both = place(topology, list.racks);
  std::map<std::uint32_t, std::set<std::uint16_t>> sites;
  for (Vertex v = 0; v < topology.nodes(); ++v) sites[both.rack[v]].insert(topology.node(v).site);
  for (const auto& [rack, of] : sites) CHECK(of.size() == 1);
  // The two sites are alike, so their cables are as long as each other's.
  const std::size_t half = (both.length_m.size() - 3) / 2;
  for (std::size_t i = 0; i < half; ++i) CHECK(both.length_m[i] == both.length_m[half + i]);
}

TEST_CASE("cost: racks hold what they have room for, and units stay together") {
  const auto racks_of = [](const Topology& topology, const Placement& placement) {
    std::map<std::uint32_t, std::uint32_t> hosts;
    for (std::uint32_t h = 0; h < topology.hosts(); ++h) ++hosts[placement.rack[topology.host(h)]];
    return hosts;
  };
  for (const char* name : {"torus:dims=8x8", "slim_fly:q=5", "dragonfly:p=2", "fat_tree:k=8",
                           "hyperx:dims=6x6,hosts=5", "megafly:p=3,g=1", "jellyfish:n=40,r=6"}) {
    INFO(name);
    const Topology topology = make(name);
    bool given = false;  // by the family
    for (Vertex v = 0; v < topology.nodes(); ++v) given = given || topology.node(v).rack != kNoRack;
    const Placement placement = place(topology, {.hosts = 32, .switches = 8});
    for (const auto& [rack, hosts] : racks_of(topology, placement)) {
      CHECK(rack < placement.racks);
      if (!given) CHECK(hosts <= 32);
    }
    CHECK(placement.columns * placement.columns >= placement.racks);
    // Hosts stand with their switch.
    for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
      const Vertex host = topology.host(h);
      const Vertex first = topology.channels()[topology.out_channels(host)[0]].to;
      CHECK(placement.rack[host] == placement.rack[first]);
    }
    // A length for each link: 1 m in a rack, at least 3 m between racks.
    REQUIRE(placement.length_m.size() * 2 == topology.channels().size());
    for (std::size_t i = 0; i < placement.length_m.size(); ++i) {
      const Channel& channel = topology.channels()[2 * i];
      const bool same = placement.rack[channel.from] == placement.rack[channel.to];
      CHECK((placement.length_m[i] == 1) == same);
      if (!same) CHECK(placement.length_m[i] >= 3);
    }
  }
}

TEST_CASE("cost: every built-in list prices a small network, and says where it is from") {
  for (const std::string& name : price_list_names()) {
    INFO(name);
    const PriceList prices = find_price_list(name);
    CHECK(!prices.source.empty());
    CHECK(!prices.date.empty());
    const Bill sum = bill(make("fat_tree:k=8,link=40Gbps"), prices);
    // Eight switches of 8 ports fit one of 64, where the list lets them share it.
    CHECK(sum.count(Part::kSwitch) == (prices.shared_switches ? 10 : 80));
    CHECK(sum.count(Part::kCable) == 256 + 128);
    CHECK(sum.price > 0);
  }
}

TEST_CASE("cost: what is wrong with a list is told with its place") {
  const auto wrong = [](const char* text, const char* what) {
    CHECK_THROWS_WITH(parse_price_list(text, "mine"), Catch::Matchers::Contains(what));
  };
  wrong("switch { port: 3 }", "mine:1:");
  wrong("\nswitch { rate: \"1Gbps\" }", "mine:2:1: ports must be given");
  wrong("switch { ports: 8 rate: \"fast\" }", "mine:1:1: ");
  wrong("switch { ports: 8 rate: \"400\" }", "a unit is needed");
  wrong("cable { kind: COPPER }", "name must be given");
  wrong("cable { name: \"x\" }", "kind must be given");
  for (const char* entry :
       {"switch { ports: 8 rate: \"1Gbps\" watts: 3 }", "cable { name: \"x\" kind: OPTICAL up_to_m: 3 }",
        "nic { rate: \"1Gbps\" }", "node { watts: 3 }",
        "breakout { name: \"x\" kind: COPPER ways: 2 rate: \"200Gbps\" }"}) {
    INFO(entry);
    wrong(entry, "mine:1:1: price must be given; 0 for what costs nothing");
  }
  wrong("switch_formula { rate: \"1Gbps\" }", "base or per_port must be given");
  wrong("cable { name: \"x\" kind: OPTICAL price: -1 }", "can't be below 0");
  CHECK_THROWS_WITH(find_price_list("/nonexistent/prices"), Catch::Matchers::Contains("modern"));
  CHECK_THROWS_WITH(price_list_text("modem"), Catch::Matchers::Contains("did you mean 'modern'"));
}

TEST_CASE("cost: what is sent inside of machines is nothing that the network between them delivered") {
  // Two machines of 8, each accelerator with one NIC of 400 Gb/s, all links half in use.
  const Topology machines = make("scale_up:of=[rail_optimized:units=1,nodes=2],accelerators=8");
  const std::vector<double> half(machines.channels().size(), 0.5);
  CHECK(between_machines_bps(machines, half) == Approx(16 * 400e9 / 2));
  CHECK(between_machines_bps(make("fat_tree:k=4"), std::vector<double>(96, 0.5)) == 0);
}

TEST_CASE("cost: table and JSON have the same totals") {
  const Bill sum = bill(make("fat_tree:k=8,link=100Gbps"), find_price_list("modern"), 2);
  const Worth worth{.bisection_bps = 6.4e12, .achieved_bps = 12.8e12};
  const nlohmann::json json = nlohmann::json::parse(bill_json(sum, worth));
  CHECK(json["price"] == sum.price);
  CHECK(json["endpoints"] == 128);
  CHECK(json["switches"] == 160);
  double lines = 0;
  for (const auto& line : json["lines"]) lines += line["price"].get<double>();
  CHECK(lines == Approx(sum.price));
  CHECK(json["price_per_endpoint"].get<double>() == Approx(sum.price / 128));
  CHECK(json["price_per_gbps_injection"].get<double>() == Approx(sum.price / (2 * 128 * 100)));
  CHECK(json["price_per_gbps_bisection"].get<double>() == Approx(sum.price / 6400));
  CHECK(json["price_per_gbps_achieved"].get<double>() == Approx(sum.price / 12800));
  const std::string table = bill_table(sum, worth);
  CHECK(table.find("160") != std::string::npos);
  CHECK(table.find(fmt::format("achieved       {:.2f} $", sum.price / 12800)) != std::string::npos);
}

}  // namespace weft::topologies
