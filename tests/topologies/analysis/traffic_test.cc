#include "topologies/analysis/traffic.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "sim/units/input_error.h"
#include "tests/topologies/analysis/random_network.h"
#include "topologies/families.h"

namespace weft::topologies {
namespace {

// Every shortest path between every two hosts, walked one by one; loads as given, in units of their mean.
ExpectedTraffic path_by_path(const Topology& topology, std::vector<double> loads) {
  double total = 0;
  for (const double load : loads) total += load;
  for (double& load : loads) load *= topology.hosts() / total;
  ExpectedTraffic result{std::vector<double>(topology.nodes()),
                         std::vector<double>(topology.channels().size() / 2)};
  for (std::uint32_t s = 0; s < topology.hosts(); ++s) {
    result.node[topology.host(s)] = loads[s];
    for (std::uint32_t t = 0; t < topology.hosts(); ++t) {
      if (s == t) continue;
      std::vector<std::vector<std::uint32_t>> shortest;
      std::vector<std::uint32_t> path;
      std::vector<bool> visited(topology.nodes(), false);
      const std::function<void(Vertex)> walk = [&](Vertex v) {
        if (!shortest.empty() && path.size() > shortest[0].size()) return;
        if (v == topology.host(t)) {
          if (!shortest.empty() && path.size() < shortest[0].size()) shortest.clear();
          shortest.push_back(path);
          return;
        }
        if (v != topology.host(s) && topology.node(v).kind == NodeKind::kHost) return;
        visited[v] = true;
        for (const std::uint32_t c : topology.out_channels(v)) {
          if (visited[topology.channels()[c].to]) continue;
          path.push_back(c);
          walk(topology.channels()[c].to);
          path.pop_back();
        }
        visited[v] = false;
      };
      walk(topology.host(s));
      const double share = loads[s] * loads[t] / (2.0 * topology.hosts() * shortest.size());
      for (const auto& taken : shortest) {
        for (const std::uint32_t c : taken) {
          result.link[c / 2] += share;
          const Vertex to = topology.channels()[c].to;
          if (topology.node(to).kind == NodeKind::kSwitch) result.node[to] += share;
        }
      }
    }
  }
  return result;
}

bool single_homed(const Topology& topology, Vertex host) {
  for (const std::uint32_t c : topology.out_channels(host)) {
    if (topology.channels()[c].to != topology.channels()[topology.out_channels(host)[0]].to) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("expected traffic: what uniform traffic puts on each tier of a fat tree") {
  // k pods; each of k³/4 hosts sends 1/2 and receives 1/2. What enters a switch leaves it: once per byte.
  const double k = GENERATE(4, 8, 32);
  const Topology topology = build(parse_module_choice("fat_tree:k=" + std::to_string(static_cast<int>(k))));
  const ExpectedTraffic traffic = expected_traffic(topology);
  const double hosts = k * k * k / 4, under_edge = k / 2, under_pod = k * k / 4;
  // Half the load of the hosts below, for what they send, and half for what they get from elsewhere.
  const double edge = under_edge / 2 * (2 - under_edge / hosts);
  const double between_edges = under_pod / 2 * (1 - under_edge / hosts),
               from_out = under_pod / 2 * (1 - under_pod / hosts);
  const double aggregation = (between_edges + from_out) / (k / 2);
  const double core = hosts / 2 * (1 - under_pod / hosts) / (k * k / 4);
  const double expected[] = {1, edge, aggregation, core};
  // k = 32 has more sources than are followed.
  const double margin = k == 32 ? 0.05 : 1e-9;
  for (Vertex v = 0; v < topology.nodes(); ++v) {
    INFO(topology.node(v).name);
    REQUIRE(traffic.node[v] == Approx(expected[topology.node(v).tier]).epsilon(margin));
  }
}

TEST_CASE("expected traffic: the same as path by path, on any network") {
  const bool holds = rc::check([] {
    const Topology topology = random_network();
    std::vector<double> loads;
    for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
      loads.push_back(*rc::gen::inRange(1, 5));
    }
    const ExpectedTraffic found = expected_traffic(topology, loads);
    ExpectedTraffic expected = path_by_path(topology, loads);
    // A host's traffic with itself does not exist, but is counted where it would pass.
    const double total = std::accumulate(loads.begin(), loads.end(), 0.0);
    for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
      if (!single_homed(topology, topology.host(h))) continue;
      const double mean = total / topology.hosts(), with_itself = loads[h] * loads[h] / total / mean;
      const auto out = topology.out_channels(topology.host(h));
      expected.node[topology.channels()[out[0]].to] += with_itself / 2;
      for (const std::uint32_t c : out) expected.link[c / 2] += with_itself / static_cast<double>(out.size());
    }
    for (Vertex v = 0; v < topology.nodes(); ++v) {
      RC_ASSERT(std::abs(found.node[v] - expected.node[v]) < 1e-9);
    }
    for (std::size_t e = 0; e < found.link.size(); ++e) {
      RC_ASSERT(std::abs(found.link[e] - expected.link[e]) < 1e-9);
    }
  });
  CHECK(holds);
}

TEST_CASE("expected traffic: traffic within one pod stays there") {
  const Topology topology = build(parse_module_choice("fat_tree:k=8"));
  std::vector<double> loads(topology.hosts(), 0);
  std::fill(loads.begin(), loads.begin() + 16, 3.5e300);
  const ExpectedTraffic traffic = expected_traffic(topology, loads);
  for (Vertex v = 0; v < topology.nodes(); ++v) {
    INFO(topology.node(v).name);
    const bool in_pod = topology.node(v).tier < 3 && topology.node(v).group == 0;
    CHECK((traffic.node[v] > 0) == in_pod);
    CHECK(std::isfinite(traffic.node[v]));
  }
}

TEST_CASE("expected traffic: loads that can't be are refused") {
  const Topology topology = build(parse_module_choice("single_switch:hosts=2"));
  const double minus[] = {1, -1}, nan[] = {std::numeric_limits<double>::quiet_NaN(), 1}, few[] = {1};
  CHECK_THROWS_WITH(expected_traffic(topology, minus), Catch::Contains("the load of host 1 is -1"));
  CHECK_THROWS_AS(expected_traffic(topology, nan), InputError);
  CHECK_THROWS_WITH(expected_traffic(topology, few), Catch::Contains("1 host loads for 2 hosts"));
}

TEST_CASE("expected traffic: no load at all is taken as a uniform one") {
  const Topology topology = build(parse_module_choice("single_switch:hosts=4"));
  const std::vector<double> none(4, 0.0);
  CHECK(expected_traffic(topology, none).node == expected_traffic(topology).node);
  CHECK(expected_traffic(topology).node[topology.switch_at(0)] == Approx(2));
}

}  // namespace weft::topologies
