// k shortest and disjoint ways: against all ways there are, and against the closed forms of small networks.
#include "sim/routing/parts/route_finder.h"

#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/routing/path_selector.h"
#include "sim/routing/paths/dependencies.h"
#include "sim/routing/paths/link_load.h"
#include "sim/routing/paths/path_list.h"
#include "tests/sim/routing/registered.h"
#include "tests/topologies/analysis/random_network.h"
#include "topologies/families.h"

namespace weft::routing {
namespace {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

constexpr std::uint32_t kMost = 15;

Topology network(const std::string& text) { return topologies::build(parse_module_choice(text)); }

bool is_host(const Topology& topology, Vertex v) { return topology.node(v).kind == NodeKind::kHost; }

// By definition: all ways that come to no node twice, with so many switches at most.
std::vector<ChannelWay> all_ways(const Topology& topology, std::uint32_t source, std::uint32_t destination,
                                 std::size_t most) {
  std::vector<ChannelWay> ways;
  std::set<Vertex> seen;
  ChannelWay way;
  const std::function<void(Vertex)> go = [&](Vertex at) {
    if (at == topology.host(destination)) {
      ways.push_back(way);
      return;
    }
    if (way.size() > most || (is_host(topology, at) && at != topology.host(source))) return;
    seen.insert(at);
    for (const std::uint32_t c : topology.out_channels(at)) {
      if (seen.contains(topology.channels()[c].to)) continue;
      way.push_back(c);
      go(topology.channels()[c].to);
      way.pop_back();
    }
    seen.erase(at);
  };
  go(topology.host(source));
  return ways;
}

std::vector<std::size_t> lengths(const std::vector<ChannelWay>& ways) {
  std::vector<std::size_t> all;
  for (const ChannelWay& way : ways) all.push_back(way.size());
  return all;
}

bool between_switches(const Topology& topology, std::uint32_t channel) {
  const topologies::Channel& c = topology.channels()[channel];
  return !is_host(topology, c.from) && !is_host(topology, c.to);
}

// No link between switches twice, in either direction.
bool share_no_link(const Topology& topology, const std::vector<ChannelWay>& ways) {
  std::set<std::uint32_t> links;
  for (const ChannelWay& way : ways) {
    for (const std::uint32_t c : way) {
      if (between_switches(topology, c) && !links.insert(c / 2).second) return false;
    }
  }
  return true;
}

// The least sum of lengths of `count` of these ways that share no link; 0: there are not so many.
std::size_t least_sum(const Topology& topology, const std::vector<ChannelWay>& all, std::size_t count) {
  std::size_t best = 0;
  std::vector<ChannelWay> chosen;
  const std::function<void(std::size_t, std::size_t)> go = [&](std::size_t first, std::size_t sum) {
    if (best != 0 && sum >= best) return;
    if (chosen.size() == count) {
      best = sum;
      return;
    }
    for (std::size_t i = first; i < all.size(); ++i) {
      chosen.push_back(all[i]);
      if (share_no_link(topology, chosen)) go(i + 1, sum + all[i].size());
      chosen.pop_back();
    }
  };
  go(0, 0);
  return best;
}

sim::RandomStream random(std::uint64_t seed) { return sim::RandomStream(seed, 1); }

}  // namespace

TEST_CASE("k shortest ways: those of all ways there are, in random networks") {
  rc::check("lengths, and each way once", [] {
    const Topology topology = topologies::random_network();
    const auto below = [](std::size_t n) {
      return static_cast<std::uint32_t>(*rc::gen::resize(100, rc::gen::inRange<std::size_t>(0, n)));
    };
    if (topology.hosts() < 2) return;
    const std::uint32_t source = below(topology.hosts()), destination = below(topology.hosts());
    if (source == destination) return;
    const std::uint32_t most = 1 + below(7);
    std::vector<ChannelWay> all = all_ways(topology, source, destination, most);
    std::ranges::stable_sort(all, {}, [](const ChannelWay& way) { return way.size(); });
    RouteFinder finder(topology, most);
    const std::size_t count = 1 + below(40);
    const auto found = finder.k_shortest(source, destination, count, random(below(1000)));
    std::vector<std::size_t> expected = lengths(all);
    expected.resize(std::min(count, expected.size()));
    RC_ASSERT(lengths(found) == expected);
    const std::set<ChannelWay> known(all.begin(), all.end()), different(found.begin(), found.end());
    RC_ASSERT(different.size() == found.size());
    for (const ChannelWay& way : found) RC_ASSERT(known.contains(way));
  });
}

TEST_CASE("disjoint ways: in all as short as any choice among all ways, in random networks") {
  rc::check("the least sum of lengths", [] {
    const Topology topology = topologies::random_network();
    if (topology.hosts() < 2) return;
    const std::vector<ChannelWay> all = all_ways(topology, 0, 1, topology.switches());
    if (all.size() > 60) return;
    RouteFinder finder(topology, topology.switches());
    const bool has_many_nics = topology.out_channels(topology.host(0)).size() > 1 ||
                               topology.out_channels(topology.host(1)).size() > 1;
    for (std::size_t count = 1; count <= 4; ++count) {
      const auto found = finder.edge_disjoint(0, 1, count, random(count));
      RC_ASSERT(share_no_link(topology, found));
      const std::set<ChannelWay> known(all.begin(), all.end()), different(found.begin(), found.end());
      RC_ASSERT(different.size() == found.size());
      for (const ChannelWay& way : found) RC_ASSERT(known.contains(way));
      if (has_many_nics) continue;  // which links of hosts are shared is another question
      std::size_t most = count;
      while (most > 0 && least_sum(topology, all, most) == 0) --most;
      RC_ASSERT(found.size() == most);
      std::size_t sum = 0;
      for (const std::size_t each : lengths(found)) sum += each;
      RC_ASSERT(sum == least_sum(topology, all, most));
    }
  });
}

TEST_CASE("disjoint ways: a shortest way that is in the way of two others is given up") {
  // A hypercube of n dimensions has n ways between opposite corners, and between any two; of distance d, d
  // are minimal and n - d two links longer (Y. Saad, M. Schultz, 1988).
  const Topology topology = network("hypercube:n=4");
  RouteFinder finder(topology, kMost);
  for (std::uint32_t other = 1; other < 16; ++other) {
    const auto d = static_cast<std::size_t>(std::popcount(other));
    std::vector<std::size_t> expected(d, d + 2);
    expected.resize(4, d + 4);
    const auto found = finder.edge_disjoint(0, other, 8, random(other));
    CHECK(lengths(found) == expected);
    CHECK(share_no_link(topology, found));
  }
}

TEST_CASE("k shortest ways: as many of each length as in Hoffman and Singleton's graph") {
  // A^2 + A - 6I = J (girth 5, degree 7, 50 vertices). Between linked switches there is one way of one link
  // and then 36 of four, else one of two links and six of three.
  const Topology topology = network("slim_fly:q=5,hosts=1");
  RouteFinder finder(topology, kMost);
  for (std::uint32_t d = 1; d < topology.hosts(); ++d) {
    std::map<std::size_t, int> counts;
    for (const std::size_t each : lengths(finder.k_shortest(0, d, 60, random(d)))) ++counts[each - 2];
    if (finder.distance(0, d) == 2) {
      CHECK(counts[1] == 1);
      CHECK(counts[2] + counts[3] == 0);
      CHECK(counts[4] == 36);
      CHECK(finder.k_shortest(0, d, 37, random(d)).back().size() == 2 + 4);
      CHECK(finder.k_shortest(0, d, 38, random(d)).back().size() > 2 + 4);
    } else {
      CHECK(counts[1] == 0);
      CHECK(counts[2] == 1);
      CHECK(counts[3] == 6);
    }
  }
}

TEST_CASE("k shortest ways: of equal ones each is drawn about as often as any other") {
  // 16 shortest ones between pods of a fat tree.
  const Topology topology = network("fat_tree:k=8");
  RouteFinder finder(topology, kMost);
  std::map<ChannelWay, int> count;
  for (std::uint64_t seed = 0; seed < 1600; ++seed) {
    ++count[finder.k_shortest(0, 100, 1, random(seed)).front()];
  }
  REQUIRE(count.size() == 16);
  for (const auto& [way, times] : count) REQUIRE(std::abs(times - 100) < 48);
}

TEST_CASE("named ways: lists, loads and dependencies are those of the ways") {
  const Topology topology = network("torus:dims=3x3");
  const RoutingTable table(topology);
  const Policy policy = registered("edge_disjoint:k=4");
  const Parameters parameters(policy.info, std::map<std::string, std::string>());
  const auto model = paths_of(policy, {parameters, topology, table, 1});
  RouteFinder finder(topology, 4);
  topologies::HostTraffic traffic;
  std::vector<double> expected(topology.channels().size());
  std::set<std::pair<std::uint32_t, std::uint32_t>> waits;
  for (std::uint32_t s = 0; s < topology.hosts(); ++s) {
    for (std::uint32_t d = 0; d < topology.hosts(); ++d) {
      if (s == d) continue;
      traffic.entries.push_back({s, d, 1e9});
      const PathList list = list_paths(topology, table, *model, s, d, 10);
      std::vector<NamedWay> ways;
      model->ways(s, d, ways);
      REQUIRE(list.paths.size() == ways.size());
      REQUIRE(list.paths_left == 0);
      for (const ListedPath& path : list.paths) {
        REQUIRE(path.share == Approx(1.0 / static_cast<double>(ways.size())));
        for (const std::uint32_t c : path.channels) expected[c] += 1e9 * path.share;
        for (std::size_t i = 1; i + 2 < path.channels.size(); ++i) {
          waits.insert({path.channels[i], path.channels[i + 1]});
        }
      }
      REQUIRE(list_paths(topology, table, *model, s, d, 1).paths_left ==
              static_cast<double>(ways.size()) - 1);
    }
  }
  const LinkLoad load = link_load(topology, table, *model, traffic);
  for (std::size_t c = 0; c < expected.size(); ++c) REQUIRE(load.bps[c] == Approx(expected[c]));
  const Dependencies found = find_dependencies(topology, table, {{.paths = model.get()}},
                                               {.channels = 1, .selection = ChannelRule::Selection::kByHop});
  CHECK(found.dependencies == waits.size());
  CHECK_FALSE(found.acyclic());
  for (std::size_t i = 0; i < found.cycle.size(); ++i) {
    CHECK(waits.contains({found.cycle[i].channel, found.cycle[(i + 1) % found.cycle.size()].channel}));
  }
  std::size_t longest = 0;
  for (std::uint32_t d = 1; d < topology.hosts(); ++d) {
    for (const ChannelWay& way : finder.edge_disjoint(0, d, 4, random(1)))
      longest = std::max(longest, way.size());
  }
  CHECK(find_dependencies(topology, table, {{.paths = model.get()}},
                          {.channels = static_cast<std::uint32_t>(longest) - 2,
                           .selection = ChannelRule::Selection::kByHop})
            .acyclic());
}

TEST_CASE("k_shortest: what its parameters must be, and networks whose ways are too long") {
  const Topology topology = network("torus:dims=40");
  const RoutingTable table(topology);
  const auto refusal = [&](const std::string& text) {
    try {
      const Policy policy = registered(text);
      const Parameters parameters(policy.info, std::map<std::string, std::string>());
      std::vector<NamedWay> ways;
      paths_of(policy, {parameters, topology, table, 1})->ways(0, 15, ways);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(refusal("k_shortest:k=0") == "k_shortest: k is '0', but it must be from 1 to 256");
  CHECK(refusal("k_shortest:per=hop") == "k_shortest: per is 'hop', but it must be flow or packet");
  CHECK(refusal("edge_disjoint:k=257") == "edge_disjoint: k is '257', but it must be from 1 to 256");
  CHECK(refusal("k_shortest").find("has 16 switches, and a source route holds 15 at most") !=
        std::string::npos);
}

TEST_CASE("srv6: a plane whose spines are denied leaves its load to the others") {
  const topologies::Topology topology = topologies::build(parse_module_choice("multi_plane:planes=2,k=4"));
  const RoutingTable table(topology);
  const auto load = [&](const std::string& text) {
    const Policy policy = registered(text);
    const Parameters parameters(policy.info, std::map<std::string, std::string>());
    const std::unique_ptr<PathModel> paths = policy.make_paths({parameters, topology, table, 1});
    // Between hosts of different leaves.
    const topologies::HostTraffic traffic{.name = "pair", .weight = {}, .entries = {{0, 5, 1e9}}};
    return link_load(topology, table, *paths, traffic);
  };
  const LinkLoad both = load("srv6"), one = load("srv6:denied=spine 0.*");
  CHECK(both.stranded == 0);
  CHECK(one.stranded == 0);
  CHECK(one.most == Approx(2 * both.most));
  CHECK(load("srv6:denied=spine *").stranded == Approx(1));
}

}  // namespace weft::routing
