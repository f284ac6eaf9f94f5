#include "sim/flow/spread.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "sim/flow/paths.h"
#include "sim/units/random.h"
#include "tests/sim/flow/naive.h"
#include "topologies/families.h"

namespace weft::sim::flow {
namespace {

struct Site {
  explicit Site(const std::string& shape)
      : topology(topologies::build(parse_module_choice(shape))), table(topology) {
    for (const topologies::Channel& channel : topology.channels()) {
      capacity.push_back(channel.rate.bps() << kRateBits);
    }
  }
  topologies::Topology topology;
  routing::RoutingTable table;
  std::vector<Rate> capacity;
};

using Shares = std::map<std::uint32_t, double>;  // by channel

// What each channel has of a flow from one switch towards a host: by hand, from the routing table, one switch
// after the other.
void divide_by_hand(const Site& site, std::uint32_t at, std::uint32_t host, double part, Shares& shares) {
  if (at == site.topology.host(host)) return;
  const auto candidates = site.table.candidates(at, host);
  for (const std::uint32_t channel : candidates) {
    const double each = part / static_cast<double>(candidates.size());
    shares[channel] += each;
    divide_by_hand(site, site.topology.channels()[channel].to, host, each, shares);
  }
}

const char* const kShapes[] = {"fat_tree:k=4",
                               "fat_tree:k=4,oversubscription=2",
                               "leaf_spine:leaves=4,spines=3,hosts_per_leaf=6",
                               "torus:dims=4x3,hosts=2",
                               "hyperx:dims=3x4,hosts=3",
                               "hypercube:n=3",
                               "single_switch:hosts=5"};

}  // namespace

TEST_CASE("a flow divides as the routing table says") {
  const char* const shape = GENERATE(from_range(std::begin(kShapes), std::end(kShapes)));
  CAPTURE(shape);
  const Site site(shape);
  Spread spread(site.topology, site.table, site.capacity);
  for (std::uint32_t from = 0; from < site.topology.hosts(); ++from) {
    for (std::uint32_t to = 0; to < site.topology.hosts(); ++to) {
      if (from == to) continue;
      const std::uint32_t nic = site.topology.out_channels(site.topology.host(from)).front();
      const std::uint32_t at = site.topology.channels()[nic].to;
      Shares expected, found;
      divide_by_hand(site, at, to, 1, expected);
      std::vector<std::uint32_t> last;
      CHECK(spread.divide(
          spread.unit_of(to), at, [&](std::uint32_t channel, double share) { found[channel] += share; },
          [&](std::uint32_t vertex, double share) {
            spread.last_links(vertex, to, last);
            for (const std::uint32_t channel : last)
              found[channel] += share / static_cast<double>(last.size());
          }));
      REQUIRE(found.size() == expected.size());
      for (const auto& [channel, share] : expected) CHECK(found.at(channel) == Approx(share));
    }
  }
}

TEST_CASE("channels of a group are loaded alike by every flow") {
  const char* const shape = GENERATE(from_range(std::begin(kShapes), std::end(kShapes)));
  CAPTURE(shape);
  const Site site(shape);
  Spread spread(site.topology, site.table, site.capacity);
  const std::vector<std::uint32_t> group = spread.groups();
  std::map<std::uint32_t, std::vector<double>> loads;  // by group: the shares of all flows
  for (std::uint32_t channel = 0; channel < group.size(); ++channel) {
    if (group[channel] == Spread::kNone) continue;
    std::vector<double> of_channel;
    for (std::uint32_t from = 0; from < site.topology.hosts(); ++from) {
      const std::uint32_t nic = site.topology.out_channels(site.topology.host(from)).front();
      for (std::uint32_t to = 0; to < site.topology.hosts(); ++to) {
        Shares shares;
        if (from != to) divide_by_hand(site, site.topology.channels()[nic].to, to, 1, shares);
        of_channel.push_back(shares[channel]);
      }
    }
    const auto [known, fresh] = loads.emplace(group[channel], of_channel);
    if (fresh) continue;
    for (std::size_t i = 0; i < of_channel.size(); ++i) REQUIRE(known->second[i] == Approx(of_channel[i]));
  }
  // And no two groups are alike.
  std::set<std::vector<std::int64_t>> different;
  for (const auto& [number, shares] : loads) {
    std::vector<std::int64_t> rounded;
    for (const double share : shares) rounded.push_back(static_cast<std::int64_t>(share * 1e9 + 0.5));
    CHECK(different.insert(rounded).second);
  }
}

TEST_CASE("a fat tree without oversubscription is never full but at its hosts") {
  const Site full("fat_tree:k=8"), tapered("fat_tree:k=8,oversubscription=2");
  Spread spread(full.topology, full.table, full.capacity);
  for (const std::uint32_t group : spread.groups()) CHECK(group == Spread::kNone);
  Spread narrow(tapered.topology, tapered.table, tapered.capacity);
  std::set<std::uint32_t> groups;
  for (const std::uint32_t group : narrow.groups()) groups.insert(group);
  groups.erase(Spread::kNone);
  // There are 8 pods with 4 edge switches: up and down at each edge switch, up and down at each pod.
  CHECK(groups.size() == 8 * 4 * 2 + 8 * 2);
}

TEST_CASE("rates with groups are those with every channel for itself") {
  const char* const shape = GENERATE(from_range(std::begin(kShapes), std::end(kShapes)));
  CAPTURE(shape);
  const Site site(shape);
  Paths paths(site.topology, site.table, routing::FluidPaths::kEven, 1);
  MaxMin solver;
  for (const Rate capacity : paths.resources()) solver.add_resource(capacity);
  std::vector<double> capacity(site.capacity.begin(), site.capacity.end());
  std::vector<NaiveFlow> flows;
  RandomStream random(1, 3);
  Way way;
  for (std::uint32_t i = 0; i < 60; ++i) {
    const auto from = static_cast<std::uint32_t>(random.below(site.topology.hosts()));
    // Some hosts get more than others.
    const auto to = static_cast<std::uint32_t>(random.below(1 + random.below(site.topology.hosts())));
    if (from == to) continue;
    paths.find({.source = from, .destination = to}, way);
    REQUIRE(way.open);
    solver.add(static_cast<std::uint32_t>(flows.size()), way.uses, 1, kMostRate);
    const std::uint32_t nic = site.topology.out_channels(site.topology.host(from)).front();
    Shares shares = {{nic, 1.0}};
    divide_by_hand(site, site.topology.channels()[nic].to, to, 1, shares);
    NaiveFlow& flow = flows.emplace_back();
    for (const auto& [channel, share] : shares) {
      flow.uses.push_back({channel, static_cast<std::uint32_t>(share * kWhole + 0.5)});
    }
  }
  solver.solve();
  const std::vector<double> expected = naive_rates(capacity, flows);
  for (std::uint32_t i = 0; i < flows.size(); ++i) {
    CHECK(static_cast<double>(solver.rate(i)) == Approx(expected[i]).epsilon(1e-6));
  }
}

}  // namespace weft::sim::flow
