// Families against published and closed-form figures, measured on the graph itself.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/topologies/families/measures.h"

namespace weft::topologies {

TEST_CASE("fat tree: switches, links and average path length between edge switches as published") {
  struct Row {
    int k;
    std::uint32_t switches;
    std::size_t links;
    double average;
  };
  const Row rows[] = {
      {4, 20, 32, 3.7143}, {6, 45, 108, 3.7647}, {8, 80, 256, 3.8065}, {16, 320, 2048, 3.8898}};
  for (const Row& row : rows) {
    const Topology topology = make("fat_tree:k=" + std::to_string(row.k));
    CHECK(topology.switches() == row.switches);
    CHECK(links_between_switches(topology) == row.links);
    CHECK(topology.hosts() == static_cast<std::uint32_t>(row.k * row.k * row.k / 4));
    CHECK(average_path_length(topology, switches_of_tier(topology, 1)) == Approx(row.average).margin(5e-5));
  }
}

TEST_CASE("fat tree: k/2 shortest paths inside a pod, (k/2)² between pods") {
  for (const std::uint64_t k : {4, 6, 8, 16}) {
    const Topology topology = make("fat_tree:k=" + std::to_string(k));
    const std::vector<Vertex> edges = switches_of_tier(topology, 1);
    REQUIRE(edges.size() == k * k / 2);
    const std::vector<int> distance = distances(topology, edges[0]);
    const std::vector<std::uint64_t> paths = path_counts(topology, edges[0]);
    std::uint64_t near = 0, far = 0;
    for (std::size_t i = 1; i < edges.size(); ++i) {
      if (distance[edges[i]] == 2) {
        ++near;
        CHECK(paths[edges[i]] == k / 2);
      } else {
        ++far;
        CHECK(distance[edges[i]] == 4);
        CHECK(paths[edges[i]] == k * k / 4);
      }
    }
    CHECK(near == k / 2 - 1);
    CHECK(far == k * k / 2 - k / 2);
  }
}

TEST_CASE("fat tree: every switch has k ports, except at an oversubscribed edge") {
  const std::uint32_t k = 8;
  const Topology full = make("fat_tree:k=8");
  for (std::uint32_t s = 0; s < full.switches(); ++s) CHECK(full.out_channels(full.switch_at(s)).size() == k);

  // 2:1 puts k hosts on an edge switch of radix 3k/2: k³/2 hosts.
  const Topology tapered = make("fat_tree:k=8,oversubscription=2");
  CHECK(tapered.hosts() == k * k * k / 2);
  CHECK(tapered.switches() == full.switches());
  CHECK(links_between_switches(tapered) == links_between_switches(full));
  for (const Vertex edge : switches_of_tier(tapered, 1))
    CHECK(tapered.out_channels(edge).size() == 3 * k / 2);
}

TEST_CASE("fat tree: hosts are numbered by pod, then edge switch") {
  const Topology topology = make("fat_tree:k=4");
  const std::vector<Vertex> edges = switches_of_tier(topology, 1);
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    const Channel& up = topology.channels()[topology.out_channels(topology.host(h))[0]];
    CHECK(up.to == edges[h / 2]);
    CHECK(topology.node(topology.host(h)).group == h / 4);
    CHECK(topology.node(topology.host(h)).name == "host " + std::to_string(h));
  }
}

TEST_CASE("leaf-spine: two links between leaves, one path for each link up") {
  const Topology topology = make("leaf_spine:leaves=5,spines=3,hosts_per_leaf=4,links_per_pair=2");
  CHECK(topology.hosts() == 20);
  CHECK(topology.switches() == 8);
  CHECK(links_between_switches(topology) == 5 * 3 * 2);
  const std::vector<Vertex> leaves = switches_of_tier(topology, 1);
  CHECK(average_path_length(topology, leaves) == 2.0);
  // Three spines, two links to each and two links down from each.
  CHECK(path_counts(topology, leaves[0])[leaves[4]] == 3 * 2 * 2);
}

TEST_CASE("single switch: every host two links from every other") {
  const Topology topology = make("single_switch:hosts=7");
  CHECK(topology.hosts() == 7);
  CHECK(topology.switches() == 1);
  std::vector<Vertex> hosts;
  for (std::uint32_t h = 0; h < 7; ++h) hosts.push_back(topology.host(h));
  CHECK(average_path_length(topology, hosts) == 2.0);
  CHECK(make("single_switch:hosts=1").hosts() == 1);
}

TEST_CASE("families: rates and latencies reach the links") {
  const Topology topology =
      make("fat_tree:k=4,link=200Gbps,host_link=100Gbps,latency=1us,switch_latency=300ns");
  for (const Channel& channel : topology.channels()) {
    const bool to_host = topology.node(channel.from).kind == NodeKind::kHost ||
                         topology.node(channel.to).kind == NodeKind::kHost;
    CHECK(channel.rate == Bandwidth::gbps(to_host ? 100 : 200));
    CHECK(channel.latency == Time::us(1));
  }
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    CHECK(topology.node(topology.switch_at(s)).switch_latency == Time::ns(300));
  }
  // Without host_link, hosts have links like the others; the defaults are those of the description.
  const Topology plain = make("single_switch:hosts=2,link=50Gbps");
  for (const Channel& channel : plain.channels()) {
    CHECK(channel.rate == Bandwidth::gbps(50));
    CHECK(channel.latency == Time::ns(500));
  }
}

TEST_CASE("families: channels are the two directions of each link") {
  const Topology topology = make("fat_tree:k=4");
  const std::vector<Channel>& channels = topology.channels();
  REQUIRE(channels.size() == 2 * topology.edges().size());
  for (std::uint32_t c = 0; c < channels.size(); ++c) {
    CHECK(channels[c].from == channels[c ^ 1].to);
    const auto out = topology.out_channels(channels[c].from);
    CHECK(std::count(out.begin(), out.end(), c) == 1);
  }
}

TEST_CASE("families: names are unique") {
  for (const Family& family : families()) {
    const std::string name = family.info.name;
    CHECK(std::count_if(families().begin(), families().end(),
                        [&](const Family& other) { return other.info.name == name; }) == 1);
    CHECK_FALSE(family.info.summary.empty());
    CHECK_FALSE(family.info.source.empty());
    for (const char* shared : {"link", "latency", "switch_latency"}) {
      CHECK(std::any_of(family.info.parameters.begin(), family.info.parameters.end(),
                        [&](const ParameterSpec& spec) { return spec.name == shared; }));
    }
  }
}

TEST_CASE("families: a number of endpoints gives a network with as many or a few more") {
  for (const Family& family : families()) {
    if (family.size_for == nullptr) continue;
    INFO(family.info.name);
    std::uint32_t before = 0;
    for (const std::uint32_t endpoints : {1u, 2u, 10u, 64u, 300u, 1024u}) {
      const Topology topology = make(family.info.name + ":endpoints=" + std::to_string(endpoints));
      CHECK(topology.hosts() >= endpoints);
      CHECK(topology.hosts() >= before);
      before = topology.hosts();
    }
    // No family has gaps as wide as a factor of 3 at about 1,000 endpoints.
    CHECK(before < 3 * 1024);
    CHECK_THROWS_WITH(make(family.info.name + ":endpoints=1000000000000"),
                      Catch::Contains("endpoints are more than its largest network has"));
  }
}

TEST_CASE("families: impossible parameters name the nearest possible") {
  const auto check = [](const std::string& short_form, const std::string& message) {
    CHECK_THROWS_WITH(make(short_form), message);
  };
  check(
      "fat_tree:k=5",
      "fat_tree: k is '5', but it must be even: each switch has k/2 ports up and k/2 down; the nearest are 4 "
      "and 6");
  check("fat_tree:k=0", "fat_tree: k is '0', but it must be even and from 2 to 256; the nearest is 2");
  check("fat_tree:k=257", "fat_tree: k is '257', but it must be even and from 2 to 256; the nearest is 256");
  check("fat_tree:k=8,oversubscription=0",
        "fat_tree: oversubscription is '0', but it must be from 1 to 32768; the nearest is 1");
  check("fat_tree", "fat_tree needs a value for 'k': Ports of a switch and number of pods: even, 2 to 256.");
  check("fat_tree:k=8,link=0Gbps",
        "fat_tree: link is '0Gbps', but it must be at least 1Mbps; write it like 400Gbps");
  check("single_switch:hosts=2,host_link=0",
        "single_switch: host_link is '0', but it must be at least 1Mbps; write it like 400Gbps");
  check("single_switch:hosts=0",
        "single_switch: hosts is '0', but it must be from 1 to 4194304; the nearest is 1");
  check("leaf_spine:leaves=65536,spines=65536,hosts_per_leaf=1",
        "leaf_spine: spines is '65536', but leaves × spines × links_per_pair must be at most 4194304");
  check("fat_tre:k=8", "'fat_tre' is not a topology; did you mean 'fat_tree'?");
  check(
      "fat_tree:kk=8",
      "'kk' is not a parameter of fat_tree; did you mean 'k'? (known: k, oversubscription, link, host_link, "
      "latency, switch_latency)");
}

}  // namespace weft::topologies
