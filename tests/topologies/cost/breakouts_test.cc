#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/units/input_error.h"
#include "topologies/cost/bill.h"
#include "topologies/families.h"

namespace weft::topologies {
namespace {

Topology make(const std::string& short_form) { return build(parse_module_choice(short_form)); }

BillLine find(const Bill& bill, const std::string& item) {
  for (const BillLine& line : bill.lines) {
    if (line.item == item) return line;
  }
  FAIL("no line '" << item << "' in\n" << bill_table(bill, {}));
  return {};
}

// All hosts of a switch stand 1 m from it.
const std::string kCables = R"(
  racks { hosts: 0 }
  cable { name: "DAC" kind: COPPER up_to_m: 2 price: 90 }
  cable { name: "AoC" kind: OPTICAL price: 1000 price_per_m: 1 }
)";
const std::string kCopper =
    "breakout { name: \"1:2 DAC\" kind: COPPER ways: 2 rate: \"200Gbps\" up_to_m: 2 price: 160 }\n";
const std::string kOptical =
    "breakout { name: \"1:2 AoC\" kind: OPTICAL ways: 2 rate: \"200Gbps\" price: 1900 price_per_m: 1 }\n";
const std::string kBothEnds =
    "breakout { name: \"2:2\" kind: OPTICAL ways: 2 rate: \"200Gbps\" price: 1200 price_per_m: 2 watts: 20 "
    "both_ends: true }\n";
const std::string kLarge =
    "switch { ports: 64 rate: \"400Gbps\" price: 30000 }\nswitch { ports: 128 rate: \"200Gbps\" price: 40000 "
    "}\n";

std::string switches(std::uint32_t fast, std::uint32_t slow) {
  return fmt::format(
      "switch {{ ports: 4 rate: \"400Gbps\" price: {} }}\nswitch {{ ports: 8 rate: \"200Gbps\" price: {} "
      "}}\n",
      fast, slow);
}

}  // namespace

TEST_CASE("breakouts: two hosts at a port, and what that was chosen over") {
  PriceList list = parse_price_list(kCables + kLarge + kCopper, "t");
  const auto of = [&](int hosts) {
    return bill(make(fmt::format("single_switch:hosts={},link=200Gbps", hosts)), list);
  };
  const Bill full = of(128);
  const BillLine line =
      find(full, "switch of 64 ports of 400Gbps, 64 in use, 64 broken out to 128 x 200Gbps");
  CHECK(line.count == 1);
  CHECK(line.price == 30000);
  CHECK(find(full, "1:2 DAC").count == 64);
  CHECK(find(full, "1:2 DAC").length_m == 128);
  CHECK(full.price == 30000 + 64 * 160);
  REQUIRE(line.over.size() == 1);
  CHECK(line.over[0].name == "128x200Gbps");
  CHECK(line.over[0].cables_more == Approx(128 * 90 - 64 * 160));
  CHECK_THAT(
      bill_table(full, {}),
      Catch::Contains("64x400Gbps at 30,000 $, before 128x200Gbps at 40,000 $ with cables 1,280 $ dearer"));
  CHECK_THAT(bill_table(full, {}), Catch::Contains("1:2 DAC, 1.0 m a leg on average"));
  const auto json = nlohmann::json::parse(bill_json(full, {}));
  CHECK(json["lines"][1]["ways"] == 2);

  // The last one alone has a cable of its own.
  CHECK(of(127).price == 30000 + 63 * 160 + 90);
  // A port for every host: nothing is broken out.
  CHECK(of(64).price == 30000 + 64 * 90);
  CHECK_THROWS_WITH(of(129), Catch::Contains("129 ports of 200Gbps"));
  pin_switches(list, {"128x200Gbps"});
  CHECK(of(128).price == 40000 + 128 * 90);
}

TEST_CASE("breakouts: dearer cables make the switch with a port for every link cheaper") {
  const auto of = [](int copper) {
    const PriceList list = parse_price_list(
        kCables + kLarge +
            fmt::format("breakout {{ name: \"1:2\" kind: COPPER ways: 2 rate: \"200Gbps\" price: {} }}\n",
                        copper),
        "t");
    return bill(make("single_switch:hosts=128,link=200Gbps"), list).price;
  };
  // 30,000 + 64 x against 40,000 + 128 * 90: as dear at x = 336.25.
  CHECK(of(336) == 30000 + 64 * 336);
  CHECK(of(337) == 40000 + 128 * 90);
}

TEST_CASE("breakouts: four to a port, and ports of both kinds at one switch") {
  const PriceList list = parse_price_list(
      kCables + "switch { ports: 128 rate: \"400Gbps\" price: 1000 }\n" + kCopper + kOptical +
          "breakout { name: \"1:4\" kind: COPPER ways: 4 rate: \"100Gbps\" price: 200 }\n",
      "t");
  const Bill full = bill(make("single_switch:hosts=510,link=100Gbps"), list);
  CHECK(find(full, "1:4").count == 127);
  CHECK(find(full, "1:2 DAC").count == 1);  // cheaper for the last two
  CHECK(full.price == 1000 + 127 * 200 + 160);
  CHECK_THROWS_AS(bill(make("single_switch:hosts=513,link=100Gbps"), list), InputError);
  // A leaf of HPN: 128 ports of 200 Gb/s to hosts, 60 of 400 Gb/s up.
  const Bill hpn = bill(make("hpn:segments=2,rails=1,nodes=128"), list);
  CHECK(find(hpn, "switch of 128 ports of 400Gbps, 124 in use, 64 broken out to 128 x 200Gbps").count == 4);
}

TEST_CASE("breakouts: between switches that both break out") {
  // 8 leaves with 4 hosts, a link to each of 4 spines.
  const Topology topology = make("leaf_spine:leaves=8,spines=4,hosts_per_leaf=4,link=200Gbps");
  const auto with = [&](const std::string& more) {
    return bill(topology, parse_price_list(kCables + more, "t"));
  };
  double up_m = 0;
  const Bill whole = with(switches(9000, 2000));
  for (const BillLine& line : whole.lines) up_m += line.item == "AoC" ? line.length_m : 0;
  CHECK(whole.price == Approx(12 * 2000 + 32 * 90 + 32 * 1000 + up_m));

  // Two transceivers for two links, between 4-port switches: half as many as there are links.
  const std::string breakouts = kCopper + kOptical + kBothEnds;
  const Bill both = with(switches(1000, 2000) + breakouts);
  CHECK(find(both, "switch of 4 ports of 400Gbps, 4 in use, 4 broken out to 8 x 200Gbps").count == 12);
  CHECK(find(both, "2:2").count == 16);
  CHECK(find(both, "2:2").watts == Approx(16 * 20));
  CHECK(both.price == Approx(12 * 1000 + 16 * 160 + 16 * 1200 + 2 * up_m));

  // Without such transceivers only one end can break out: the eight leaves, which are more than the spines.
  const Bill one = with(switches(1000, 2000) + kCopper + kOptical);
  CHECK(find(one, "switch of 4 ports of 400Gbps, 4 in use, 4 broken out to 8 x 200Gbps").count == 8);
  CHECK(find(one, "switch of 8 ports of 200Gbps, 8 in use").count == 4);
  CHECK(find(one, "1:2 AoC").count == 16);
  CHECK(one.price == Approx(8 * 1000 + 4 * 2000 + 16 * 160 + 16 * 1900 + up_m));

  // Copper legs don't reach the spines, so leaves have 4 ports up and need 6.
  const Bill none = with(switches(1000, 2000) + kCopper);
  CHECK(none.count(Part::kSwitch) == 12);
  CHECK(none.price == Approx(12 * 2000 + 32 * 90 + 32 * 1000 + up_m));
  CHECK_THROWS_WITH(with("switch { ports: 4 rate: \"400Gbps\" price: 1 }\n" + kCopper),
                    Catch::Contains("8 ports of 200Gbps"));
}

TEST_CASE("breakouts: parallel links between two broken-out ports are one straight cable") {
  // Each leaf has two links to each of two spines, and each spine two to each of four leaves: 8 links each.
  const Topology topology =
      make("leaf_spine:leaves=4,spines=2,hosts_per_leaf=4,links_per_pair=2,link=200Gbps");
  const Bill both = bill(topology, parse_price_list(kCables + switches(1000, 2000) + kCopper, "t"));
  const BillLine up = find(both, "AoC");
  CHECK(up.count == 8);
  CHECK(find(both, "1:2 DAC").count == 8);
  CHECK(both.price == Approx(6 * 1000 + 8 * 160 + 8 * 1000 + up.length_m));
}

TEST_CASE("breakouts: never dearer than without, and as many links") {
  const PriceList list = find_price_list("modern");
  PriceList without = list;
  without.breakouts.clear();
  for (const char* name :
       {"fat_tree:k=16", "leaf_spine:leaves=32,spines=16,hosts_per_leaf=32,links_per_pair=2", "slim_fly:q=5",
        "dragonfly:p=4", "hyperx:dims=6x6,hosts=5", "rail_optimized:units=2,nodes=16",
        "hammingmesh:a=2,b=2,x=8,y=8", "scale_up:of=[rail_optimized:units=2,nodes=16],accelerators=8"}) {
    for (const char* rate : {"100Gbps", "200Gbps", "400Gbps", "800Gbps"}) {
      const std::string of =
          std::string(name) + (name[0] == 's' && name[1] == 'c' ? "" : fmt::format(",link={}", rate));
      INFO(of);
      const Topology topology = make(of);
      const Bill with = bill(topology, list), plain = bill(topology, without);
      CHECK(with.price <= plain.price * (1 + 1e-9));
      CHECK(with.count(Part::kSwitch) == plain.count(Part::kSwitch));
      CHECK(with.count(Part::kNic) == plain.count(Part::kNic));
      std::uint64_t legs = 0;
      for (const BillLine& line : with.lines) legs += line.part == Part::kCable ? line.count * line.ways : 0;
      CHECK(legs * 4 >= plain.count(Part::kCable));
      CHECK(with.count(Part::kCable) <= plain.count(Part::kCable));
    }
  }
}

TEST_CASE("breakouts: what is wrong with an entry is told with its place") {
  const auto wrong = [](const std::string& text, const char* what) {
    CHECK_THROWS_WITH(parse_price_list(text, "mine"), Catch::Contains(what));
  };
  wrong("split_ports: true\n" + kCopper, "mine:2:1: split_ports splits ports without breakout cables");
  wrong("breakout { kind: COPPER ways: 2 rate: \"200Gbps\" }", "name must be given");
  wrong("breakout { name: \"x\" ways: 2 rate: \"200Gbps\" kind: LONG_HAUL }",
        "kind must be COPPER or OPTICAL");
  wrong("breakout { name: \"x\" ways: 2 rate: \"200Gbps\" }", "kind must be COPPER or OPTICAL");
  wrong("breakout { name: \"x\" kind: COPPER ways: 1 rate: \"200Gbps\" }", "ways is 1");
  wrong("breakout { name: \"x\" kind: COPPER ways: 2 }", "rate must be given");
}

}  // namespace weft::topologies
