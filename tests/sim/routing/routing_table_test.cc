// The routing table against shortest paths computed in the plainest way.
#include "sim/routing/table/routing_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/random.h"
#include "sim/units/input_error.h"
#include "tests/sim/routing/reference.h"
#include "topologies/families.h"
#include "topologies/graph/topology.h"

namespace weft {
namespace {

using topologies::Link;
using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

const Link kLink{Bandwidth::gbps(100), Time::ns(500)};

// Towards every `every`-th host.
void check_all_pairs(const Topology& topology, const routing::RoutingTable& table,
                     const std::vector<bool>& down_links = {}, std::uint32_t every = 1) {
  std::uint64_t differences = 0;  // counted, as an assertion for each would take most of the time
  for (std::uint32_t h = 0; h < topology.hosts(); h += every) {
    const std::vector<int> distance = routing_reference::distances_to(topology, down_links, h);
    for (Vertex v = 0; v < topology.nodes(); ++v) {
      if (v == topology.host(h)) continue;
      const std::vector<std::uint32_t> expected =
          routing_reference::next_channels(topology, down_links, distance, v, h);
      const auto found = table.candidates(v, h);
      bool same = std::equal(found.begin(), found.end(), expected.begin(), expected.end());
      for (std::uint32_t i = 0; i < expected.size() && same; ++i) {
        same = table.candidate(v, h, [&](std::size_t count) { return count == expected.size() ? i : 0; }) ==
               expected[i];
      }
      if (same) continue;
      ++differences;
      CAPTURE(topology.name(), topology.node(v).name, h, expected);
      CHECK(std::vector<std::uint32_t>(found.begin(), found.end()) == expected);
      if (differences == 5) FAIL("and so on");
    }
  }
  CHECK(differences == 0);
}

// Both as quick and as small as it can be.
constexpr std::size_t kBudgets[] = {routing::RoutingTable::kQuickBytes, 0};
void check_all_pairs(const Topology& topology, std::uint32_t every = 1) {
  for (const std::size_t budget : kBudgets) {
    check_all_pairs(topology, routing::RoutingTable(topology, budget), {}, every);
  }
}

// A connected network of random switches with parallel links, hosts with 1 to 3 NICs (some twice to the same
// switch), and now and then two hosts cabled to each other.
Topology random_topology(std::uint64_t seed) {
  sim::RandomStream random(seed, 1);
  Topology topology("random " + std::to_string(seed));
  const auto switches = static_cast<std::uint32_t>(1 + random.below(12));
  const auto hosts = static_cast<std::uint32_t>(1 + random.below(14));
  std::vector<Vertex> at;
  std::vector<Vertex> host_at;
  for (std::uint32_t i = 0; i < std::max(switches, hosts); ++i) {  // interleaved vertex numbers
    if (i < switches) at.push_back(topology.add_switch("switch " + std::to_string(i), 1));
    if (i < hosts) host_at.push_back(topology.add_host("host " + std::to_string(i)));
  }
  for (std::uint32_t i = 1; i < switches; ++i) topology.add_link(at[i], at[random.below(i)], kLink);
  for (std::uint64_t extra = random.below(2 * switches); extra > 0 && switches > 1; --extra) {
    const std::uint64_t a = random.below(switches);
    const std::uint64_t b = (a + 1 + random.below(switches - 1)) % switches;
    topology.add_link(at[a], at[b], kLink);
  }
  for (std::uint32_t i = 0; i < hosts; ++i) {
    for (std::uint64_t nic = 0; nic <= random.below(3); ++nic) {
      topology.add_link(host_at[i], at[random.below(switches)], kLink);
    }
    if (i > 0 && random.below(6) == 0) topology.add_link(host_at[i], host_at[random.below(i)], kLink);
  }
  topology.finish();
  return topology;
}

Topology network(const std::string& choice) { return topologies::build(parse_module_choice(choice)); }

// Small networks of all families.
const std::vector<std::string>& small_networks() {
  static const std::vector<std::string> networks = {
      "single_switch:hosts=5",
      "leaf_spine:leaves=5,spines=3,hosts_per_leaf=2,links_per_pair=2",
      "fat_tree2:k=8",
      "fat_tree:k=4",
      "k_ary_n_tree:k=3,n=3",
      "xgft:m=2x3x2,w=1x2x3",
      "multi_plane:k=4,planes=3",
      "rail_optimized:units=2,nodes=4,rails=2,spines=2",
      "hpn:segments=2,nodes=4,rails=2,aggs=2",
      "torus:dims=5x4,hosts=2",
      "mesh:dims=3x4x2",
      "hypercube:n=5",
      "hyperx:dims=4x3x2",
      "express_mesh:dims=7x6",
      "flattened_butterfly:k=3,n=4",
      "tofu:x=3,y=2,z=2",
      "fugaku:shape=6x3x4",
      "tpu_torus:dims=4x4x8",
      "hammingmesh:a=2,b=2,x=3,y=3",
      "dragonfly:p=2",
      "megafly:p=2",
      "cascade:g=3",
      "bcube:n=3,k=1",
      "dcell:n=3,k=1",
      "slim_fly:q=5",
      "polarfly:q=5",
      "polarstar:q=3,q2=5",
      "bundlefly:q1=4,q2=5",
      "oft:k=3",
      "mlfm:h=3",
      "spectralfly:p=3,q=5",
      "kautz:b=3,n=2",
      "delorme:q=2",
      "arrangement:n=5,k=2",
      "jellyfish:n=40,r=5,hosts=2",
      "xpander:d=4,lifts=3",
      "marenostrum5_acc:groups=1",
      "random_equivalent:of=[fat_tree:k=4]",
      "scale_up:of=[fat_tree:k=4],accelerators=4",
      "datacenters:of=[fat_tree:k=4],sites=2",
  };
  return networks;
}

// Fails and recovers links at random, some at once, and repairs after each change.
void fail_and_recover(const Topology& topology, std::uint64_t seed, std::uint32_t steps,
                      std::uint32_t every) {
  sim::RandomStream random(seed, 2);
  const auto links = static_cast<std::uint32_t>(topology.channels().size() / 2);
  routing::RoutingTable repaired(topology, kBudgets[seed % 2]);
  std::vector<bool> down(links);
  for (std::uint32_t step = 0; step < steps; ++step) {
    if (step + 1 == steps) {
      down.assign(links, false);
    } else {
      for (std::uint64_t change = random.below(4) + 1; change > 0; --change) {
        const std::uint64_t link = random.below(links);
        down[link] = !down[link];
      }
      // More recover than fail, or nothing would be left in the end.
      for (std::uint32_t link = 0; link < links; ++link) down[link] = down[link] && random.below(8) > 0;
    }
    repaired.repair(topology, down);
    INFO("seed " << seed << ", step " << step);
    check_all_pairs(topology, repaired, down, every);
    if (step % 3 == 0) check_all_pairs(topology, routing::RoutingTable(topology, down), down, every);
  }
}

}  // namespace

TEST_CASE("routing table: equals shortest paths on random networks") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) check_all_pairs(random_topology(seed));
}

TEST_CASE("routing table: equals shortest paths on networks of all families") {
  std::set<std::string> seen;
  for (const std::string& choice : small_networks()) {
    check_all_pairs(network(choice));
    seen.insert(parse_module_choice(choice).name);
  }
  for (const topologies::Family& family : topologies::families()) {
    INFO(family.info.name);
    const bool from_file = family.info.name == "graph_file" || family.info.name == "slurm";
    // Machines are dragonflies and trees; a small one of each kind is enough.
    const bool is_machine = std::ranges::find(family.info.parameters, "groups", &ParameterSpec::name) !=
                            family.info.parameters.end();
    CHECK((from_file || is_machine || seen.contains(std::string(family.info.name))));
  }
}

TEST_CASE("routing table: computes from coordinates where the network is a grid") {
  for (const char* choice :
       {"torus:dims=20x21", "torus:dims=7x7x7", "torus:dims=2x3x4x5x3", "mesh:dims=17x18,hosts=2",
        "hypercube:n=10", "hyperx:dims=17x18", "hyperx:dims=70x6", "express_mesh:dims=20x19",
        "flattened_butterfly:k=7,n=4,hosts=1", "tofu:x=4,y=3,z=4", "fugaku:shape=12x8x8",
        "tpu_torus:dims=8x8x8"}) {
    const Topology topology = network(choice);
    const routing::RoutingTable table(topology);
    INFO(choice);
    CHECK(table.forms().grid);
    check_all_pairs(topology, table, {}, 5);
  }
}

TEST_CASE("routing table: a grid that is said but not there is not believed") {
  constexpr std::uint32_t kSide = 20;
  for (const bool wrong_link : {false, true}) {
    Topology topology("nearly a torus");
    std::vector<Vertex> routers;
    for (std::uint32_t r = 0; r < kSide * kSide; ++r) {
      routers.push_back(topology.add_switch("router " + std::to_string(r), 1));
      topology.add_link(topology.add_host("host " + std::to_string(r)), routers.back(), kLink);
    }
    for (std::uint32_t r = 0; r < kSide * kSide; ++r) {
      const std::uint32_t x = r / kSide, y = r % kSide;
      topology.add_link(routers[r], routers[(x + 1) % kSide * kSide + y], kLink);
      // The last line is not closed.
      if (wrong_link && r + 1 == kSide * kSide) continue;
      topology.add_link(routers[r], routers[x * kSide + (y + 1) % kSide], kLink);
    }
    topology.set_grid({kSide, kSide});
    topology.finish();
    const routing::RoutingTable table(topology);
    CHECK(table.forms().grid == !wrong_link);
    check_all_pairs(topology, table, {}, 7);
  }
}

TEST_CASE("routing table: computes from distances where sets are many") {
  const Topology topology = network("jellyfish:n=2000,r=24,hosts=1");
  const routing::RoutingTable table(topology, 0);
  CHECK(table.forms().columns);
  CHECK(table.forms().rows == 0);
  check_all_pairs(topology, table, {}, 97);
}

TEST_CASE("routing table: rows that have most sets, and compute the others") {
  const Topology topology = network("jellyfish:n=400,r=20,hosts=1");
  const routing::RoutingTable table(topology, 0);
  CHECK(table.forms().columns);
  CHECK(table.forms().rows == 400);
  check_all_pairs(topology, table);
}

TEST_CASE("routing table: rows that turn out to have many sets get codes of two bytes") {
  const Topology topology = network("jellyfish:n=400,r=20,hosts=1");
  const routing::RoutingTable table(topology);
  CHECK_FALSE(table.forms().columns);
  CHECK(table.forms().rows == 400);
  check_all_pairs(topology, table);
}

TEST_CASE("routing table: switches with hundreds of ports have rows of two bytes") {
  const Topology topology = network("leaf_spine:leaves=300,spines=2,hosts_per_leaf=1");
  const routing::RoutingTable table(topology);
  CHECK_FALSE(table.forms().columns);
  check_all_pairs(topology, table);
}

TEST_CASE("routing table: two hosts and no switch") {
  Topology topology("cable");
  const Vertex a = topology.add_host("a"), b = topology.add_host("b");
  topology.add_link(a, b, kLink);
  topology.finish();
  check_all_pairs(topology);
}

TEST_CASE("routing table: a host with links to a hundred switches") {
  Topology topology("star of stars");
  const Vertex middle = topology.add_switch("middle", 2), hub = topology.add_host("hub"),
               other = topology.add_host("other");
  topology.add_link(other, middle, kLink);
  for (std::uint32_t i = 0; i < 100; ++i) {
    const Vertex leaf = topology.add_switch("leaf " + std::to_string(i), 1);
    topology.add_link(leaf, middle, kLink);
    topology.add_link(hub, leaf, kLink);
    topology.add_link(topology.add_host("host " + std::to_string(i)), leaf, kLink);
  }
  topology.finish();
  check_all_pairs(topology);
  fail_and_recover(topology, 1, 12, 1);
}

TEST_CASE("routing table: a repaired one equals shortest paths over what is left") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) fail_and_recover(random_topology(seed), seed, 9, 1);
  std::uint64_t seed = 0;
  for (const std::string& choice : small_networks()) fail_and_recover(network(choice), ++seed, 6, 7);
}

TEST_CASE("routing table: repairs where sets are computed") {
  for (const char* choice :
       {"torus:dims=20x21", "hypercube:n=9", "hyperx:dims=17x18", "jellyfish:n=1200,r=24,hosts=1",
        "jellyfish:n=400,r=20,hosts=1", "slim_fly:q=13,hosts=1"}) {
    fail_and_recover(network(choice), 5, 8, 41);
  }
}

TEST_CASE("routing table: a repair searches for those destinations only whose distances change") {
  const auto link_between = [](const Topology& topology, const std::string& a, const std::string& b) {
    for (std::uint32_t c = 0; c < topology.channels().size(); c += 2) {
      const topologies::Channel& channel = topology.channels()[c];
      const std::set<std::string> names = {topology.node(channel.from).name, topology.node(channel.to).name};
      if (names == std::set<std::string>{a, b}) return c / 2;
    }
    throw InputError("no link between '" + a + "' and '" + b + "'");
  };
  SECTION("torus") {
    // The link is on a ring of 20, of which nine destinations on either side have no other shortest path from
    // its near end.
    const Topology topology = network("torus:dims=20x20");
    routing::RoutingTable table(topology);
    std::vector<bool> down(topology.channels().size() / 2);
    down[link_between(topology, "router 3.4", "router 3.5")] = true;
    CHECK(table.repair(topology, down) == 18);
    // In another row: these stay as they are.
    down[link_between(topology, "router 7.4", "router 7.5")] = true;
    CHECK(table.repair(topology, down) == 18);
    CHECK(table.repair(topology, down) == 0);
    down[link_between(topology, "router 3.4", "router 3.5")] = false;
    CHECK(table.repair(topology, down) == 0);
    CHECK(table.repair(topology, {}) == 0);
  }
  SECTION("fat tree") {
    const Topology topology = network("fat_tree:k=8");
    const auto between_tiers = [&](std::uint8_t lower) {
      std::uint32_t link = 0;
      const auto is_there = [&](std::uint32_t l) {
        const topologies::Channel& channel = topology.channels()[std::size_t{2} * l];
        const int a = topology.node(channel.from).tier, b = topology.node(channel.to).tier;
        return std::min(a, b) == lower && std::max(a, b) == lower + 1;
      };
      while (!is_there(link)) ++link;
      std::vector<bool> down(topology.channels().size() / 2);
      down[link] = true;
      return down;
    };
    // The upper switch has no other way: below a pod's upper tier to one edge switch, above to the pod's
    // four.
    for (const auto& [lower, columns] : {std::pair(1, 1), std::pair(2, 4)}) {
      routing::RoutingTable table(topology);
      CHECK(table.repair(topology, between_tiers(static_cast<std::uint8_t>(lower))) ==
            static_cast<std::size_t>(columns));
    }
    // A host that is cut off is searched for by nobody.
    routing::RoutingTable table(topology);
    CHECK(table.repair(topology, between_tiers(0)) == 0);
  }
  SECTION("a link that fails twice, and a switch next to it") {
    const Topology topology = network("hyperx:dims=5x5");
    routing::RoutingTable table(topology);
    std::vector<bool> down(topology.channels().size() / 2);
    const std::uint32_t link = link_between(topology, "router 0.0", "router 0.1");
    // Both ends have one way to each other and no other destination's distance depends on it.
    for (int time = 0; time < 3; ++time) {
      down[link] = true;
      CHECK(table.repair(topology, down) == 2);
      down[link] = false;
      CHECK(table.repair(topology, down) == 0);
    }
  }
}

TEST_CASE("routing table: a copy is repaired on its own") {
  const Topology topology = network("torus:dims=20x20");
  const routing::RoutingTable table(topology);
  routing::RoutingTable copy(table);
  std::vector<bool> down(topology.channels().size() / 2);
  down[7] = down[500] = true;
  copy.repair(topology, down);
  check_all_pairs(topology, copy, down, 11);
  check_all_pairs(topology, table, {}, 11);
}

TEST_CASE("routing table: an irregular network takes a fraction of a byte for a pair of switches") {
  const Topology topology = network("jellyfish:n=2000,r=24,hosts=1");
  CHECK(routing::RoutingTable(topology, 0).memory_bytes() < std::size_t{2000} * 2000);
  // The quick form costs what it may cost.
  const routing::RoutingTable quick(topology);
  CHECK(quick.forms().rows == 2000);
  CHECK(quick.memory_bytes() < 2 * routing::RoutingTable::kQuickBytes);
}

TEST_CASE("routing table: two planes that do not meet") {
  // Host 0 and 1 have a NIC in each plane; host 2 only in plane 1.
  Topology topology("planes");
  const Vertex a = topology.add_switch("a", 1), b = topology.add_switch("b", 1);
  std::vector<Vertex> hosts;
  for (int i = 0; i < 3; ++i) hosts.push_back(topology.add_host("host " + std::to_string(i)));
  for (int i = 0; i < 2; ++i) topology.add_link(hosts[i], a, kLink);
  for (int i = 0; i < 3; ++i) topology.add_link(hosts[i], b, kLink);
  topology.finish();
  check_all_pairs(topology);
  const routing::RoutingTable table(topology);
  CHECK(table.candidates(hosts[0], 1).size() == 2);
  CHECK(table.candidates(hosts[0], 2).size() == 1);
  // Plane 0 never leads to host 2.
  CHECK(table.candidates(a, 2).empty());
}

TEST_CASE("routing table: hosts that only other hosts could join are an error") {
  Topology topology("split");
  const Vertex a = topology.add_switch("a", 1), b = topology.add_switch("b", 1);
  const Vertex middle = topology.add_host("middle"), left = topology.add_host("left"),
               right = topology.add_host("right");
  topology.add_link(middle, a, kLink);
  topology.add_link(middle, b, kLink);
  topology.add_link(left, a, kLink);
  topology.add_link(right, b, kLink);
  topology.finish();
  CHECK_THROWS_WITH(routing::RoutingTable(topology), "split: 'right' cannot reach 'left' through switches");
}

}  // namespace weft
