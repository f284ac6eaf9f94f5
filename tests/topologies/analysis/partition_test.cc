#include "topologies/analysis/partition.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "sim/units/input_error.h"
#include "tests/topologies/analysis/random_network.h"
#include "topologies/analysis/traffic.h"
#include "topologies/families.h"

namespace weft::topologies {
namespace {

Topology network(const std::string& choice) { return build(parse_module_choice(choice)); }

// The weight of the heaviest part over the mean of `parts`.
double imbalance(const Topology& topology, const Partitioning& found, std::uint32_t parts,
                 std::span<const double> loads = {}) {
  const ExpectedTraffic traffic = expected_traffic(topology, loads);
  std::vector<double> weight(found.parts);
  for (Vertex v = 0; v < topology.nodes(); ++v) weight[found.of_vertex[v]] += traffic.node[v];
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
  return *std::max_element(weight.begin(), weight.end()) * parts / total;
}

// What every result must be, worked out from nothing but its list of vertices.
std::string fault(const Topology& topology, const Partitioning& found, std::uint32_t asked) {
  if (found.of_vertex.size() != topology.nodes()) return "not one part for each vertex";
  const std::set<std::uint16_t> numbers(found.of_vertex.begin(), found.of_vertex.end());
  if (numbers.size() != found.parts || *numbers.rbegin() != found.parts - 1) return "parts are not dense";
  if (found.parts < 1 || found.parts > asked) return "number of parts";
  std::uint16_t next = 0;
  for (const std::uint16_t part : found.of_vertex) {
    if (part > next) return "parts are not numbered as they appear";
    next = std::max<std::uint16_t>(next, static_cast<std::uint16_t>(part + 1));
  }
  Time least = Time::max();
  std::uint64_t cut = 0;
  for (const Channel& channel : topology.channels()) {
    if (found.of_vertex[channel.from] == found.of_vertex[channel.to]) continue;
    if (channel.latency == Time()) return "a link without latency is cut";
    least = std::min(least, channel.latency);
    ++cut;
  }
  if (least != found.lookahead) return "lookahead";
  if (cut != found.cut_channels) return "cut channels";
  return "";
}

// Hosts that are not in the part of the switch they hang on.
std::uint32_t hosts_astray(const Topology& topology, const Partitioning& found) {
  std::uint32_t count = 0;
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    const Channel& out = topology.channels()[topology.out_channels(topology.host(h))[0]];
    count += found.of_vertex[out.from] != found.of_vertex[out.to];
  }
  return count;
}

}  // namespace

TEST_CASE("partition: one part is the whole network, nothing cut") {
  const Topology topology = network("fat_tree:k=4");
  const Partitioning found = partition(topology, 1);
  CHECK(found.parts == 1);
  CHECK(found.cut_channels == 0);
  CHECK(found.lookahead == Time::max());
  CHECK(found.of_vertex == std::vector<std::uint16_t>(topology.nodes(), 0));
}

TEST_CASE("partition: a fat tree is cut no worse than by pods") {
  const std::uint32_t k = GENERATE(4, 8, 16, 32), parts = GENERATE(2, 4, 8, 16);
  if (parts > k) return;
  const Topology topology = network("fat_tree:latency=700ns,k=" + std::to_string(k));
  const Partitioning found = partition(topology, parts);
  INFO("k=" << k << ", " << parts << " parts");
  CHECK(fault(topology, found, parts) == "");
  CHECK(found.parts == parts);
  CHECK(found.lookahead == Time::ns(700));
  CHECK(imbalance(topology, found, parts) <= 1.10);
  CHECK(hosts_astray(topology, found) == 0);
  // k / parts pods and an equal share of the cores in each part: of the k³/4 links up, those to cores
  // elsewhere are cut.
  const double by_pods = 2.0 * k * k * k / 4 * (parts - 1) / parts;
  CHECK(static_cast<double>(found.cut_channels) <= 1.5 * by_pods);
}

TEST_CASE("partition: a leaf-spine network in halves") {
  const Topology topology = network("leaf_spine:leaves=8,spines=4,hosts_per_leaf=16");
  const Partitioning found = partition(topology, 2);
  CHECK(fault(topology, found, 2) == "");
  CHECK(hosts_astray(topology, found) == 0);
  CHECK(imbalance(topology, found, 2) <= 1.10);
  // Half of the leaves and spines each way: 4·2 links from each side's leaves to the other's spines.
  CHECK(found.cut_channels == 2 * (4 * 2 + 4 * 2));
}

TEST_CASE("partition: a ring is cut in two places") {
  Topology topology("ring");
  std::vector<Vertex> ring;
  for (int i = 0; i < 16; ++i) {
    ring.push_back(topology.add_switch(fmt::format("switch {}", i), 1));
    topology.add_link(topology.add_host(fmt::format("host {}", i)), ring.back(),
                      {Bandwidth::gbps(1), Time::ns(1)});
  }
  for (std::size_t i = 0; i < ring.size(); ++i) {
    topology.add_link(ring[i], ring[(i + 1) % ring.size()], {Bandwidth::gbps(1), Time::us(1)});
  }
  topology.finish();
  const Partitioning found = partition(topology, 2);
  CHECK(fault(topology, found, 2) == "");
  CHECK(found.cut_channels == 4);
  CHECK(found.lookahead == Time::us(1));
  CHECK(imbalance(topology, found, 2) == Approx(1));
}

TEST_CASE("partition: one switch is parted from its hosts only where that helps") {
  const Topology topology = network("single_switch:hosts=64");
  // The hosts' events together are twice the switch's, so it weighs a third of the whole.
  const Partitioning found = partition(topology, 3);
  CHECK(fault(topology, found, 3) == "");
  CHECK(found.parts == 3);
  CHECK(imbalance(topology, found, 3) <= 1.1);
  // Two hosts that only hear each other through a switch without latency can't be parted at all.
  const Partitioning whole = partition(network("single_switch:hosts=2,latency=0ns"), 8);
  CHECK(whole.parts == 1);
  CHECK(whole.lookahead == Time::max());
}

TEST_CASE("partition: links without latency hold a chain together") {
  Topology topology("chain");
  std::vector<Vertex> chain;
  for (int i = 0; i < 12; ++i) {
    chain.push_back(topology.add_switch(fmt::format("switch {}", i), 1));
    topology.add_link(topology.add_host(fmt::format("host {}", i)), chain.back(),
                      {Bandwidth::gbps(1), Time::ns(5)});
    if (i == 0) continue;
    // Three boards of four switches.
    topology.add_link(chain[i - 1], chain[i], {Bandwidth::gbps(1), i % 4 == 0 ? Time::ns(5) : Time()});
  }
  topology.finish();
  const Partitioning found = partition(topology, 3);
  CHECK(fault(topology, found, 3) == "");
  CHECK(found.parts == 3);
  for (std::size_t i = 0; i < chain.size(); ++i) CHECK(found.of_vertex[chain[i]] == i / 4);
}

TEST_CASE("partition: short links stay whole if balance allows") {
  // Four racks of four switches in a full mesh of 10 ns links; racks joined in a ring of single 1 µs links,
  // where each rack's first switch has all of them.
  const auto racks = [](int count) {
    Topology topology("racks");
    std::vector<Vertex> first;
    for (int r = 0; r < count; ++r) {
      std::vector<Vertex> rack;
      for (int i = 0; i < 4; ++i) {
        rack.push_back(topology.add_switch(fmt::format("switch {}.{}", r, i), 1));
        topology.add_link(topology.add_host(fmt::format("host {}.{}", r, i)), rack.back(),
                          {Bandwidth::gbps(1), Time::ns(10)});
        for (int j = 0; j < i; ++j) topology.add_link(rack[j], rack[i], {Bandwidth::gbps(1), Time::ns(10)});
      }
      first.push_back(rack[0]);
    }
    for (int r = 0; r < count; ++r) {
      topology.add_link(first[r], first[(r + 1) % count], {Bandwidth::gbps(1), Time::us(1)});
    }
    topology.finish();
    return topology;
  };
  const Topology four = racks(4);
  CHECK(partition(four, 2).lookahead == Time::us(1));
  CHECK(partition(four, 4).lookahead == Time::us(1));
  // Three racks don't make two equal halves: balance comes first.
  const Topology three = racks(3);
  const Partitioning found = partition(three, 2);
  CHECK(fault(three, found, 2) == "");
  CHECK(found.lookahead == Time::ns(10));
  CHECK(imbalance(three, found, 2) <= 1.2);
}

TEST_CASE("partition: planes, and switches that no host reaches") {
  Topology topology("planes");
  std::vector<Vertex> planes;
  for (std::uint16_t p = 0; p < 2; ++p) {
    planes.push_back(topology.add_switch(fmt::format("plane {}", p), 1, 0, Time(), p));
  }
  for (int h = 0; h < 16; ++h) {
    const Vertex host = topology.add_host(fmt::format("host {}", h));
    for (const Vertex plane : planes) topology.add_link(host, plane, {Bandwidth::gbps(1), Time::ns(20)});
  }
  topology.add_link(topology.add_switch("spare 0", 1), topology.add_switch("spare 1", 1),
                    {Bandwidth::gbps(1), Time::ns(30)});
  topology.finish();
  const Partitioning found = partition(topology, 2);
  CHECK(fault(topology, found, 2) == "");
  CHECK(found.parts == 2);
  CHECK(imbalance(topology, found, 2) <= 1.10);
  CHECK(found.of_vertex[planes[0]] != found.of_vertex[planes[1]]);
}

TEST_CASE("partition: balanced by the traffic there is, not by the size of the network") {
  const Topology topology = network("fat_tree:k=16");
  std::vector<double> loads(topology.hosts(), 0);
  std::fill(loads.begin(), loads.begin() + 64, 1e6);  // the first pod
  const Partitioning found = partition(topology, 4, loads);
  CHECK(fault(topology, found, 4) == "");
  CHECK(imbalance(topology, found, 4, loads) <= 1.25);
  // Parts of equal size would leave the pod in one piece.
  CHECK(imbalance(topology, partition(topology, 4), 4, loads) > 2);
}

TEST_CASE("partition: any network") {
  const bool holds = rc::check([] {
    const Topology topology = random_network();
    const auto parts = *rc::gen::inRange<std::uint32_t>(1, 20);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    std::vector<double> loads;
    for (std::uint32_t h = 0; h < topology.hosts(); ++h) loads.push_back(*rc::gen::inRange(0, 4));
    const Partitioning found = partition(topology, parts, loads, seed);
    RC_ASSERT(fault(topology, found, parts) == "");
    const Partitioning again = partition(topology, parts, loads, seed);
    RC_ASSERT(again.of_vertex == found.of_vertex);
  });
  CHECK(holds);
}

TEST_CASE("partition: many parts of few switches, none empty") {
  const Topology topology = network("fat_tree:k=8");
  for (const std::uint32_t parts : {64U, 80U, 200U, kMostParts}) {
    const Partitioning found = partition(topology, parts);
    CHECK(fault(topology, found, parts) == "");
    CHECK(found.parts == std::min(parts, topology.nodes()));
  }
}

TEST_CASE("partition: 65,536 hosts") {
  const Topology topology = network("fat_tree:k=64");
  const Partitioning found = partition(topology, 64);
  CHECK(fault(topology, found, 64) == "");
  CHECK(imbalance(topology, found, 64) <= 1.10);
  CHECK(static_cast<double>(found.cut_channels) <= 1.5 * 2 * 64 * 64 * 64 / 4 * 63 / 64);
}

TEST_CASE("partition: 0 parts and too many are refused") {
  const Topology topology = network("single_switch:hosts=2");
  CHECK_THROWS_WITH(partition(topology, 0), Catch::Contains("0 parts; it can be split into 1 to 1024"));
  CHECK_THROWS_AS(partition(topology, kMostParts + 1), InputError);
}

}  // namespace weft::topologies
