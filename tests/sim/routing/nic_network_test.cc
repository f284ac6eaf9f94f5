// Which NICs ranks use, and that routes lead to them.
#include "sim/routing/nics/nic_network.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "sim/routing/table/routing_table.h"
#include "topologies/families.h"
#include "topologies/graph/topology.h"

namespace weft {
namespace {

using routing::NicNetwork;
using sim::NicPair;
using topologies::Link;
using topologies::Topology;
using topologies::Vertex;

struct Network {
  explicit Network(Topology made, bool to_hosts = false)
      : topology(std::move(made)), table(topology), nics(NicNetwork::make(topology, table, to_hosts)) {}
  Topology topology;
  routing::RoutingTable table;
  std::unique_ptr<const NicNetwork> nics;
};

Topology family(const std::string& text) { return topologies::build(parse_module_choice(text)); }

// Hosts whose links lead, in this order, to switches of these numbers, at these rates in Gb/s.
Topology on_switches(const std::vector<std::vector<std::pair<std::uint32_t, int>>>& hosts,
                     std::uint32_t switches) {
  Topology topology("test");
  std::vector<Vertex> at;
  for (std::uint32_t s = 0; s < switches; ++s) at.push_back(topology.add_switch("s" + std::to_string(s), 1));
  for (std::uint32_t h = 0; h < hosts.size(); ++h) {
    const Vertex host = topology.add_host("h" + std::to_string(h));
    for (const auto& [s, gbps] : hosts[h]) {
      topology.add_link(host, at[s], Link{Bandwidth::gbps(gbps), Time::ns(500)});
    }
  }
  topology.finish();
  return topology;
}

std::vector<int> sources(const NicNetwork& nics, std::uint32_t ranks, std::uint32_t from, std::uint32_t to) {
  std::vector<int> found;
  for (std::uint32_t r = 0; r < ranks; ++r) found.push_back(nics.nics({from, r, ranks}, {to, 0, 1}).source);
  return found;
}

}  // namespace

TEST_CASE("hosts with one NIC need no rule", "[nics]") {
  CHECK(Network(family("fat_tree:k=4")).nics == nullptr);
}

TEST_CASE("ranks share a host's NICs in their order", "[nics]") {
  const Network rails(family("rail_optimized:units=2,nodes=4,rails=4"));
  REQUIRE(rails.nics != nullptr);
  CHECK(rails.nics->unfolded());
  CHECK(sources(*rails.nics, 4, 0, 5) == std::vector<int>{0, 1, 2, 3});
  CHECK(sources(*rails.nics, 8, 0, 5) == std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(sources(*rails.nics, 2, 0, 5) == std::vector<int>{0, 2});
  CHECK(sources(*rails.nics, 1, 0, 5) == std::vector<int>{0});
  CHECK(sources(*rails.nics, 6, 0, 5) == std::vector<int>{0, 0, 1, 2, 2, 3});
  // It arrives at the receiver's.
  CHECK(rails.nics->nics({0, 1, 4}, {5, 3, 4}).destination == 3);
}

TEST_CASE("in planes a message arrives in that of its sender", "[nics]") {
  const Network planes(family("multi_plane:planes=4,k=4"));
  REQUIRE(planes.nics != nullptr);
  CHECK_FALSE(planes.nics->unfolded());
  const NicPair pair = planes.nics->nics({0, 1, 4}, {5, 3, 4});
  CHECK(pair.source == 1);
  CHECK(pair.destination == 1);
  CHECK(planes.nics->arrival(0, 2, 5, 3) == 2);
}

TEST_CASE("a rank that has several NICs of its own takes them in turn, each to its like", "[nics]") {
  const Network rails(family("rail_optimized:units=2,nodes=4,rails=4"));
  const auto pairs = [&](const NicNetwork& nics, const sim::RankPlace& from, const sim::RankPlace& to) {
    std::vector<std::pair<int, int>> all;
    for (std::uint32_t rail = 0; rail < nics.nics(from, to).own; ++rail) {
      const NicPair pair = nics.nics(from, to, rail);
      all.emplace_back(pair.source, pair.destination);
      CHECK(nics.nics(from, to, rail + pair.own).source == pair.source);
    }
    return all;
  };
  using Pairs = std::vector<std::pair<int, int>>;
  CHECK(rails.nics->most_nics() == 4);
  CHECK(pairs(*rails.nics, {0, 0, 1}, {5, 0, 1}) == Pairs{{0, 0}, {1, 1}, {2, 2}, {3, 3}});
  CHECK(pairs(*rails.nics, {0, 1, 2}, {5, 0, 2}) == Pairs{{2, 0}, {3, 1}});
  CHECK(pairs(*rails.nics, {0, 1, 3}, {5, 0, 1}) == Pairs{{1, 0}});
  CHECK(pairs(*rails.nics, {0, 0, 1}, {5, 1, 2}) == Pairs{{0, 2}, {1, 3}, {2, 2}, {3, 3}});
  CHECK(pairs(*rails.nics, {0, 5, 8}, {5, 7, 8}) == Pairs{{2, 3}});
  // In planes each arrives in its own; with two rails in each of two planes, on the like rail.
  const Network planes(family("multi_plane:planes=4,k=4"));
  CHECK(pairs(*planes.nics, {0, 0, 1}, {5, 0, 1}) == Pairs{{0, 0}, {1, 1}, {2, 2}, {3, 3}});
  const std::vector<std::pair<std::uint32_t, int>> ports = {{0, 100}, {1, 100}, {0, 100}, {1, 100}};
  const Network dual(on_switches({ports, ports}, 2));
  CHECK(pairs(*dual.nics, {0, 0, 1}, {1, 0, 1}) == Pairs{{0, 0}, {1, 1}, {2, 2}, {3, 3}});
}

// Links go by their number; here the first host has 0 and 1, the next 2 and 3.
TEST_CASE("NICs whose cables are down are left out, but for hosts that have no other", "[nics]") {
  const Topology topology =
      on_switches({{{0, 100}, {0, 100}}, {{0, 100}, {0, 100}}, {{0, 100}, {0, 100}}}, 1);
  const routing::RoutingTable table(topology);
  const auto nics = [&](const std::vector<std::uint32_t>& dead) {
    return NicNetwork::make(topology, table, false, dead);
  };
  const auto one = nics({0});
  CHECK(one->unfolded());
  CHECK(sources(*one, 2, 0, 1) == std::vector<int>{1, 1});
  CHECK(one->nics({0, 0, 1}, {1, 0, 1}).own == 1);
  CHECK(one->nics({1, 0, 2}, {0, 0, 2}).destination == 1);
  CHECK_FALSE(one->leads_to(0, 0, 1));
  CHECK(one->arrival(1, 0, 0, 0) == 1);
  CHECK(sources(*one, 2, 1, 2) == std::vector<int>{0, 1});
  const auto both = nics({0, 1});
  CHECK(sources(*both, 2, 0, 1) == std::vector<int>{0, 1});
  CHECK(both->leads_to(0, 0, 1));
  CHECK(sources(*both, 2, 1, 2) == std::vector<int>{0, 1});
}

TEST_CASE("a NIC is used only for hosts that it leads to, and the fastest of these", "[nics]") {
  for (const bool fast_first : {false, true}) {
    std::vector<std::vector<std::pair<std::uint32_t, int>>> hosts;
    for (std::uint32_t h = 0; h < 4; ++h) {
      const std::pair<std::uint32_t, int> inside{h / 2, 2880}, outside{2, 100};
      hosts.push_back(fast_first ? std::vector{inside, outside} : std::vector{outside, inside});
    }
    const Network network(on_switches(hosts, 3));
    const int fast = fast_first ? 0 : 1;
    CHECK(sources(*network.nics, 2, 0, 1) == std::vector<int>{fast, fast});
    CHECK(sources(*network.nics, 2, 0, 2) == std::vector<int>{1 - fast, 1 - fast});
    CHECK(network.nics->leads_to(0, static_cast<std::uint32_t>(fast), 1));
    CHECK_FALSE(network.nics->leads_to(0, static_cast<std::uint32_t>(fast), 2));
    const auto last = [](std::uint32_t count) { return count - 1; };
    CHECK(network.nics->choose_among(0, 2, last) == static_cast<std::uint32_t>(1 - fast));
    CHECK(network.nics->choose_among(0, 1, last) == 1);
  }
}

TEST_CASE("slower NICs beside fast ones are for nobody", "[nics]") {
  const Network network(on_switches({{{0, 100}, {0, 400}, {0, 400}}, {{0, 400}, {0, 100}, {0, 400}}}, 1));
  CHECK(sources(*network.nics, 2, 0, 1) == std::vector<int>{1, 2});
  CHECK(network.nics->nics({0, 0, 1}, {1, 1, 2}).destination == 2);
}

// Whatever is chosen at each switch, it ends at the NIC that it was sent to, and cables keep their numbers.
TEST_CASE("routes lead to a NIC", "[nics]") {
  const Network rails(family("rail_optimized:units=2,nodes=4,rails=4"));
  const NicNetwork& nics = *rails.nics;
  const Topology& routed = nics.topology();
  REQUIRE(routed.channels().size() == rails.topology.channels().size());
  REQUIRE(routed.hosts() == rails.topology.hosts() * 4);
  for (std::uint32_t host = 0; host < rails.topology.hosts(); ++host) {
    for (std::uint32_t nic = 0; nic < 4; ++nic) {
      const std::uint32_t endpoint = nics.endpoint(host, nic);
      CHECK(nics.host_of(endpoint) == host);
      const std::uint32_t cable = rails.topology.out_channels(rails.topology.host(host))[nic];
      REQUIRE(routed.out_channels(routed.host(endpoint)).front() == cable);
      for (std::uint32_t s = 0; s < routed.switches(); ++s) {
        Vertex at = routed.switch_at(s);
        std::uint32_t last = 0;
        for (int hops = 0; at != routed.host(endpoint) && hops < 5; ++hops) {
          const auto next = nics.table().candidates(at, endpoint);
          REQUIRE_FALSE(next.empty());
          last = next[next.size() - 1];
          at = routed.channels()[last].to;
        }
        CHECK(last == (cable ^ 1));
      }
    }
  }
}

TEST_CASE("what leads to hosts is left as it is", "[nics]") {
  const Network rails(family("rail_optimized:units=2,nodes=4,rails=4"), true);
  CHECK_FALSE(rails.nics->unfolded());
  CHECK(&rails.nics->topology() == &rails.topology);
  CHECK(&rails.nics->table() == &rails.table);
  CHECK(rails.nics->endpoint(2, 3) == 2);
}

}  // namespace weft
