// Dragonflies and their relatives against published counts and path lengths.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/topologies/families/measures.h"

namespace weft::topologies {
namespace {

// The number of links between every two groups, by the lower and the higher group.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> links_between_groups(
    const Topology& topology) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> count;
  for (const Channel& channel : topology.channels()) {
    const Node &from = topology.node(channel.from), &to = topology.node(channel.to);
    if (from.group < to.group) ++count[{from.group, to.group}];
  }
  return count;
}

// Each switch's links to switches of other groups: how many have how many.
std::map<std::uint32_t, std::uint32_t> global_ports(const Topology& topology, int tier = 1) {
  std::map<std::uint32_t, std::uint32_t> count;
  for (const Vertex v : switches_of_tier(topology, tier)) {
    std::uint32_t ports = 0;
    for (const std::uint32_t c : topology.out_channels(v)) {
      ports += topology.node(topology.channels()[c].to).group != topology.node(v).group;
    }
    ++count[ports];
  }
  return count;
}
using Count = std::map<std::uint32_t, std::uint32_t>;

}  // namespace

TEST_CASE("dragonfly: routers, links and average path length of balanced ones as tabulated") {
  struct Row {
    std::uint32_t p, routers;
    std::size_t links;
    double average;
  };
  for (const Row& row :
       {Row{1, 6, 6, 1.8}, Row{2, 36, 90, 2.3429}, Row{3, 114, 456, 2.5693}, Row{4, 264, 1452, 2.6863}}) {
    const Topology topology = make("dragonfly:p=" + std::to_string(row.p));
    INFO(topology.name());
    CHECK(topology.switches() == row.routers);
    CHECK(topology.hosts() == row.routers * row.p);
    CHECK(links_between_switches(topology) == row.links);
    const PathLengths paths = path_lengths(topology, switches_of_tier(topology, 1));
    CHECK(paths.diameter == 3);
    CHECK(paths.average == Approx(row.average).margin(5e-5));
    for (const auto& [groups, links] : links_between_groups(topology)) CHECK(links == 1);
    CHECK(global_ports(topology) == Count{{row.p, row.routers}});
  }
}

TEST_CASE("dragonfly: where global ports lead, by arrangement") {
  // a = 4, h = 2, 9 groups. Of group 3, router 1 has ports 2 and 3.
  const auto neighbours = [](const Topology& topology) {
    std::vector<std::uint32_t> groups;
    const Vertex router = topology.switch_at(3 * 4 + 1);
    for (const std::uint32_t c : topology.out_channels(router)) {
      const std::uint32_t group = topology.node(topology.channels()[c].to).group;
      if (group != 3) groups.push_back(group);
    }
    std::sort(groups.begin(), groups.end());
    return groups;
  };
  CHECK(neighbours(make("dragonfly:p=2")) == std::vector<std::uint32_t>{6, 7});
  CHECK(neighbours(make("dragonfly:p=2,arrangement=absolute")) == std::vector<std::uint32_t>{2, 4});
  const Topology absolute = make("dragonfly:p=3,arrangement=absolute");
  CHECK(links_between_groups(absolute).size() == 19 * 18 / 2);
  CHECK(global_ports(absolute) == Count{{3, 114}});
  CHECK(path_lengths(absolute, switches_of_tier(absolute, 1)).diameter == 3);
}

TEST_CASE("dragonfly: fewer groups have several links between every two") {
  // 8 groups, 18 links between every two: 1,024 hosts and 960 links in groups, 504 between them.
  const Topology small = make("dragonfly:p=8,a=16,h=8,g=8,links_per_pair=18");
  CHECK(small.hosts() == 1024);
  CHECK(small.switches() == 128);
  CHECK(links_between_switches(small) == 960 + 504);
  const auto between = links_between_groups(small);
  CHECK(between.size() == 28);
  for (const auto& [groups, links] : between) CHECK(links == 18);
  // Left alone, it uses the two ports of each group that are over, for the groups next to it.
  const Topology full = make("dragonfly:p=8,a=16,h=8,g=8");
  CHECK(links_between_switches(full) == 960 + 512);
  CHECK(global_ports(full) == Count{{8, 128}});
  for (const auto& [groups, links] : links_between_groups(full)) {
    const std::uint32_t apart = groups.second - groups.first;
    CHECK(links == (apart == 1 || apart == 7 ? 19 : 18));
  }
  // 30 groups with 512 ports: 17 links to each other group, and 19 ports over.
  const Topology large = make("dragonfly:p=17,a=32,h=16,g=30");
  CHECK(large.hosts() == 16320);
  CHECK(large.switches() == 960);
  CHECK(links_between_switches(large) == 14880 + 7680);
  CHECK(global_ports(large) == Count{{16, 960}});
  // An odd number of ports over in an odd number of groups: each has a port that stays free.
  const Topology odd = make("dragonfly:p=1,a=3,h=1,g=3");
  CHECK(links_between_switches(odd) == 9 + 3);
  CHECK(make("dragonfly:p=4,a=4,h=2,g=1").switches() == 4);
}

TEST_CASE("dragonfly: the largest with 64-port switches, and one of 511 groups") {
  const Topology slingshot = make("dragonfly:p=16,a=32,h=17");
  CHECK(slingshot.hosts() == 279040);
  CHECK(slingshot.switches() == 545 * 32);
  CHECK(links_between_switches(slingshot) == 545 * 496 + 545 * 544 / 2);
  CHECK(slingshot.out_channels(slingshot.switch_at(12345)).size() == 64);
  const Topology ports63 = make("dragonfly:p=16,a=32,h=16,g=511");
  CHECK(ports63.hosts() == 261632);
  CHECK(ports63.switches() == 16352);
  CHECK(links_between_switches(ports63) == 384272);
}

TEST_CASE("megafly: routers, links and average path length between leaves as tabulated") {
  struct Row {
    std::uint32_t p, g, routers;
    std::size_t joined;  // pairs of switches with a link or several
    double average;
  };
  for (const Row& row : {Row{2, 1, 20, 30, 2.8889}, Row{3, 1, 60, 135, 2.9310}, Row{4, 1, 136, 408, 2.9552},
                         Row{4, 2, 72, 180, 2.9143}}) {
    const Topology topology = make("megafly:p=" + std::to_string(row.p) + ",g=" + std::to_string(row.g));
    INFO(topology.name());
    const std::uint32_t groups = row.p * row.p / row.g + 1;
    CHECK(topology.switches() == row.routers);
    CHECK(topology.hosts() == row.p * row.p * groups);
    CHECK(joined_switches(topology).size() == row.joined);
    CHECK(links_between_switches(topology) == groups * row.p * row.p + groups * (groups - 1) / 2 * row.g);
    for (const auto& [between, links] : links_between_groups(topology)) CHECK(links == row.g);
    CHECK(global_ports(topology, 2) == Count{{row.p, groups * row.p}});
    const PathLengths paths = path_lengths(topology, switches_of_tier(topology, 1));
    CHECK(paths.diameter == 3);
    CHECK(paths.average == Approx(row.average).margin(5e-5));
    std::vector<Vertex> all = switches_of_tier(topology, 1);
    const std::vector<Vertex> spines = switches_of_tier(topology, 2);
    all.insert(all.end(), spines.begin(), spines.end());
    // From a spine by way of a third group it is nearer only where there are hardly any.
    CHECK(path_lengths(topology, all).diameter == (row.p == 2 ? 4 : 5));
  }
  CHECK_THROWS_WITH(make("megafly:p=4,g=3"),
                    "megafly: g is '3', but it must divide p·h = 16; the nearest are 2 and 4");
}

TEST_CASE(
    "megafly: groups as of Leonardo, 180 nodes on 18 leaves and 18 spines with 22 links to others each") {
  const Topology topology = make("megafly:p=18,h=22,g=18,hosts=10");
  CHECK(topology.switches() == 23 * 36);
  CHECK(topology.hosts() == 23 * 180);
  CHECK(global_ports(topology, 2) == Count{{22, 23 * 18}});
  for (const auto& [between, links] : links_between_groups(topology)) CHECK(links == 18);
  // Its switches have 40 ports, of which a spine uses 18 + 22, a leaf 18 up.
  for (const Vertex v : switches_of_tier(topology, 2)) CHECK(topology.out_channels(v).size() == 40);
  CHECK(path_lengths(topology, switches_of_tier(topology, 1)).diameter == 3);
}

TEST_CASE("cascade: three lanes at 14 Gb/s within groups and 12.5 Gb/s between, 16 GB/s a host") {
  const auto check = [](const std::string& choice, std::int64_t host, std::int64_t local,
                        std::int64_t global) {
    INFO(choice);
    const Topology topology = make(choice);
    for (const Edge& edge : topology.edges()) {
      const bool to_host = topology.node(edge.from).kind == NodeKind::kHost;
      const bool between = topology.node(edge.from).group != topology.node(edge.to).group;
      REQUIRE(edge.link.rate.bps() == 1'000'000 * (to_host ? host : between ? global : local));
    }
  };
  check("cascade:g=2", 128'000, 42'000, 37'500);
  check("cascade:g=2,link=56Gbps,host_link=100Gbps", 100'000, 56'000, 50'000);
  check("cascade:g=2,global_link=10Gbps", 128'000, 42'000, 10'000);
}

TEST_CASE("cascade: groups of 6 chassis with 16 routers, up to 241 of them with 92,544 hosts") {
  const Topology topology = make("cascade:g=3");
  CHECK(topology.switches() == 3 * 96);
  CHECK(topology.hosts() == 3 * 384);
  // In a group: 16·15/2 links in each chassis, 3 of each of 15 pairs of chassis in each slot.
  CHECK(links_between_switches(topology) == 3 * (6 * 120 + 16 * 15 * 3) + 3 * 480);
  CHECK(joined_switches(make("cascade:g=1")).size() == 6 * 120 + 16 * 15);
  CHECK(global_ports(topology) == Count{{10, 3 * 96}});
  const std::vector<Vertex> routers = switches_of_tier(topology, 1);
  for (const Vertex v : routers) CHECK(topology.out_channels(v).size() == 4 + 15 + 5 * 3 + 10);
  CHECK(path_lengths(make("cascade:g=1"), switches_of_tier(make("cascade:g=1"), 1)).diameter == 2);
  CHECK(topology.node(topology.switch_at(96 + 48)).rack == 3);
  CHECK(topology.node(topology.switch_at(96 + 47)).rack == 2);

  const Topology largest = make("cascade:g=241");
  CHECK(largest.hosts() == 92544);
  const auto between = links_between_groups(largest);
  CHECK(between.size() == 241 * 240 / 2);
  CHECK(std::all_of(between.begin(), between.end(), [](const auto& pair) { return pair.second == 4; }));
  // Two hops at most in the group, one across, two in the other.
  for (const std::uint32_t from : {0u, 4711u, 23135u}) {
    const std::vector<int> distance = distances(largest, largest.switch_at(from));
    int farthest = 0;
    for (std::uint32_t s = 0; s < largest.switches(); ++s) {
      farthest = std::max(farthest, distance[largest.switch_at(s)]);
    }
    CHECK(farthest == 5);
  }
}

TEST_CASE("groups: what can't be built") {
  const auto check = [](const std::string& short_form, const std::string& message) {
    CHECK_THROWS_WITH(make(short_form), message);
  };
  check("dragonfly:p=2,g=10", "dragonfly: g is '10', but it must be from 1 to 9; the nearest is 9");
  check("dragonfly:p=2,g=5,links_per_pair=3",
        "dragonfly: links_per_pair is '3', but it must be from 1 to 2; the nearest is 2");
  check("dragonfly:p=2,arrangement=palmtree",
        "dragonfly: arrangement is 'palmtree', but it must be relative or absolute");
  check("dragonfly:p=32", "dragonfly: p is '32', but that makes 4196352 hosts; there can be 4194304");
  check("cascade:g=242", "cascade: g is '242', but it must be from 1 to 241; the nearest is 241");
}

}  // namespace weft::topologies
