// The steady state of policies that weigh detours by load, against tabulated saturations, against a search
// over all shares where all pairs are alike, and against its own conditions.
#include "sim/routing/paths/detour_balance.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/routing/paths/link_load.h"
#include "sim/units/module.h"
#include "tests/sim/routing/registered.h"
#include "topologies/analysis/router_graph.h"
#include "topologies/families.h"

namespace weft::routing {
namespace {

using topologies::HostTraffic;
using topologies::MatrixEntry;

class Net {
 public:
  explicit Net(const std::string& choice)
      : topology(topologies::build(parse_module_choice(choice))),
        table(topology),
        graph(topologies::router_graph(topology)) {}

  std::unique_ptr<PathModel> paths(const std::string& name) const {
    const Policy policy = registered(name);
    const Parameters parameters(policy.info, parse_module_choice(name));
    return paths_of(policy, {parameters, topology, table});
  }
  double accepted(const std::string& name, const HostTraffic& traffic) const {
    if (registered(name).fluid == FluidPaths::kBalanced) {
      return balanced_load(topology, table, paths(name), traffic).saturation();
    }
    return link_load(topology, table, *paths(name), traffic).saturation();
  }
  // With this share of detours in all that is sent.
  double accepted(double share, const HostTraffic& traffic) const {
    const HostGroups groups(topology, table, false);
    DetourShares shares;
    shares.set_others(share);
    return link_load(topology, table, SharedPaths(paths("ugal"), groups, shares), traffic).saturation();
  }
  HostTraffic shift(std::uint32_t by) const {
    std::vector<MatrixEntry> entries;
    for (std::uint32_t h = 0; h < topology.hosts(); ++h)
      entries.push_back({h, (h + by) % topology.hosts(), 1});
    return matrix_traffic(graph, "shift", entries);
  }

  topologies::Topology topology;
  RoutingTable table;
  topologies::RouterGraph graph;
};

double fullest(DetourBalance& balance, const std::vector<DetourBalance::Pair>& pairs) {
  const DetourBalance::Loads& loads = balance.loads(pairs);
  double most = 0;
  for (std::size_t c = 0; c < loads.direct.size(); ++c)
    most = std::max(most, loads.direct[c] + loads.detoured[c]);
  return most;
}

// What links of capacity 1 cost, as a logarithm: a high power of their loads beyond 1.
double cost(DetourBalance& balance, const std::vector<DetourBalance::Pair>& pairs) {
  const DetourBalance::Loads& loads = balance.loads(pairs);
  double sum = 1;
  for (std::size_t c = 0; c < loads.direct.size(); ++c) {
    const double load = loads.direct[c] + loads.detoured[c];
    if (load > 1) sum += std::pow(load, 129);
  }
  return std::log(sum);
}

// By trial of one pair's share after the other, over and over: the cost has one minimum only.
void search_shares(DetourBalance& balance, std::vector<DetourBalance::Pair>& pairs) {
  for (DetourBalance::Pair& pair : pairs) pair.detoured = 0.5;
  for (double step = 0.25; step > 1e-4; step /= 2) {
    for (bool better = true; better;) {
      better = false;
      for (DetourBalance::Pair& pair : pairs) {
        for (const double by : {-step, step}) {
          const double before = cost(balance, pairs), share = pair.detoured;
          pair.detoured = std::clamp(share + by, 0.0, 1.0);
          if (cost(balance, pairs) < before - 1e-9) {
            better = true;
          } else {
            pair.detoured = share;
          }
        }
      }
    }
  }
}

}  // namespace

TEST_CASE(
    "detour balance: the worst traffic of a family is taken as by detours, uniform traffic as tabulated") {
  struct Case {
    std::string topology;
    std::uint32_t shift;  // 0: the longest matching
    double minimal, detours, uniform;
  };
  // Dragonflies: 1 / (2p²); HyperX: all p hosts of a router share one link; Slim Fly: hosts two hops apart.
  const std::vector<Case> cases = {{"dragonfly:p=2", 8, .125, .5, 1},
                                   {"dragonfly:p=3", 18, .0556, .5, 1},
                                   {"hyperx:dims=8x8,hosts=7", 7, 1.0 / 7, .5, 1},
                                   {"hyperx:dims=4x4,hosts=4", 4, .25, .5, 63.0 / 64},
                                   {"slim_fly:q=5", 0, .125, .48, .957}};
  for (const Case& each : cases) {
    INFO(each.topology);
    const Net net(each.topology);
    const HostTraffic adverse =
        each.shift > 0 ? net.shift(each.shift) : topologies::matching_traffic(net.graph, 1);
    const HostTraffic uniform = topologies::uniform_traffic(net.graph);
    CHECK(net.accepted(0.0, adverse) == Approx(each.minimal).epsilon(0.01));
    const double detours = net.accepted("valiant", adverse);
    CHECK(detours > 0.97 * each.detours);
    for (const char* policy : {"ugal", "ugal_g", "par", "slingshot"}) {
      CHECK(net.accepted(policy, adverse) > 0.97 * detours);
      CHECK(net.accepted(policy, uniform) == Approx(each.uniform).epsilon(0.01));
    }
    CHECK(net.accepted("valiant", uniform) < 0.6);
  }
}

TEST_CASE("detour balance: where all pairs are alike, no share is better than that found") {
  const Net net("hyperx:dims=8,hosts=8");
  const HostTraffic adverse = net.shift(8);
  double best = 0;
  for (int i = 0; i <= 1000; ++i) best = std::max(best, net.accepted(i / 1000.0, adverse));
  CHECK(net.accepted("ugal", adverse) == Approx(best).epsilon(0.01));
}

TEST_CASE("detour balance: few rounds come to what a search over all pairs' shares finds, in any order") {
  struct Case {
    std::string topology;
    std::vector<DetourBalance::Pair> pairs;
  };
  const std::vector<Case> cases = {
      {"hyperx:dims=8,hosts=4", {{0, 1, 3, 0}, {0, 2, 1.5, 0}, {3, 1, 2, 0}, {4, 5, 4, 0}, {6, 7, 0.5, 0}}},
      {"dragonfly:p=2", {{0, 5, 2, 0}, {1, 6, 2, 0}, {2, 4, 1.5, 0}, {8, 12, 3, 0}, {20, 21, 2, 0}}},
      {"dragonfly:p=2", {{0, 1, 6, 0}, {2, 1, 5, 0}, {3, 1, 4, 0}, {4, 9, 7, 0}, {5, 9, 6, 0}, {6, 8, 5, 0}}},
      {"slim_fly:q=5", {{0, 5, 3, 0}, {1, 5, 3, 0}, {2, 9, 4, 0}, {9, 2, 4, 0}, {10, 11, 1, 0}}}};
  for (const Case& each : cases) {
    INFO(each.topology);
    const Net net(each.topology);
    const std::unique_ptr<PathModel> model = net.paths("ugal");
    const HostGroups groups(net.topology, net.table, false);
    DetourBalance balance(net.topology, *model, groups,
                          std::vector<double>(net.topology.channels().size(), 1.0));
    std::vector<DetourBalance::Pair> found = each.pairs, searched = each.pairs;
    balance.balance(found, 24);
    search_shares(balance, searched);
    CHECK(fullest(balance, found) < 1.02 * std::max(fullest(balance, searched), 1.0));
    // Whatever shares were before.
    std::vector<DetourBalance::Pair> reversed(found.rbegin(), found.rend());
    balance.balance(reversed, 24);
    for (std::size_t i = 0; i < found.size(); ++i)
      CHECK(reversed[found.size() - 1 - i].detoured == Approx(found[i].detoured).margin(1e-6));
  }
}

TEST_CASE("detour balance: what fits goes straight, and one way or the other what doesn't") {
  const Net net("hyperx:dims=8,hosts=4");
  const std::unique_ptr<PathModel> model = net.paths("ugal");
  const HostGroups groups(net.topology, net.table, false);
  std::vector<double> capacity(net.topology.channels().size(), 1.0);
  DetourBalance balance(net.topology, *model, groups, capacity);
  const auto shares = [&](double offered) {
    std::vector<DetourBalance::Pair> pairs = {{0, 1, offered, 0.5}, {2, 3, 0.1, 0.5}};
    balance.balance(pairs, 60);
    return std::pair(pairs[0].detoured, pairs[1].detoured);
  };
  CHECK(shares(1).first == 0);
  CHECK(shares(1).second == 0);
  // 2 from one switch to another: one half fits straight. A detour is none by 2 of 8 switches.
  CHECK(shares(2).first * 0.75 == Approx(0.5).margin(0.02));
  CHECK(shares(2).second == 0);
  CHECK(shares(4).first * 0.75 == Approx(0.75).margin(0.06));
}

TEST_CASE(
    "detour balance: loads are those of the policy's paths with these shares, of few groups as of all") {
  // Where detours come to their middles in one state: else link_load() is not exact.
  const std::vector<std::pair<std::string, std::string>> cases = {{"dragonfly:p=2", "ugal"},
                                                                  {"dragonfly:p=2", "slingshot"},
                                                                  {"hyperx:dims=4x4,hosts=2", "ugal"},
                                                                  {"slim_fly:q=5", "ugal"}};
  for (const auto& [choice, policy] : cases) {
    INFO(choice << " " << policy);
    const Net net(choice);
    const std::unique_ptr<PathModel> model = net.paths(policy);
    const HostGroups groups(net.topology, net.table, false);
    const std::vector<double> capacity(net.topology.channels().size(), 1.0);
    DetourBalance balance(net.topology, *model, groups, capacity);
    // The first hosts of the first groups send to those of all; in turn, so that the same balance is asked
    // for few groups, all, and few again.
    for (const std::uint32_t senders : {3u, groups.size(), 2u}) {
      std::vector<DetourBalance::Pair> pairs;
      HostTraffic traffic{.name = "some"};
      DetourShares shares;
      for (std::uint32_t s = 0; s < senders; ++s) {
        for (std::uint32_t step : {1u, 5u, 11u}) {
          const std::uint32_t d = (s + step) % groups.size();
          const double share = 0.1 * ((s + step) % 11);
          pairs.push_back({s, d, 1.0 + s % 3, share});
          traffic.entries.push_back({groups.source(s, d), groups.destination(d), 1.0 + s % 3});
          shares.set(s, d, share);
        }
      }
      const DetourBalance::Loads loads = balance.loads(pairs);
      const LinkLoad expected =
          link_load(net.topology, net.table, SharedPaths(net.paths(policy), groups, shares), traffic);
      for (std::uint32_t c = 0; c < capacity.size(); ++c) {
        if (net.topology.node(net.topology.channels()[c].from).kind != topologies::NodeKind::kSwitch)
          continue;
        if (net.topology.node(net.topology.channels()[c].to).kind != topologies::NodeKind::kSwitch) continue;
        INFO(c);
        CHECK(loads.direct[c] + loads.detoured[c] == Approx(expected.bps[c]).margin(1e-9));
      }
    }
  }
}

// The pairs that matter alone have their ways kept, and of them only those take part that something could
// wait for; beside as good as nothing from everybody to everybody else all legs are followed, for all pairs.
TEST_CASE("detour balance: shares of few groups are those that the legs of all come to") {
  for (const char* choice : {"dragonfly:p=2", "slim_fly:q=5"}) {
    INFO(choice);
    const Net net(choice);
    const std::unique_ptr<PathModel> model = net.paths("ugal");
    const HostGroups groups(net.topology, net.table, false);
    DetourBalance balance(net.topology, *model, groups,
                          std::vector<double>(net.topology.channels().size(), 1.0));
    std::vector<DetourBalance::Pair> few = {{0, 5, 2, 0}, {1, 6, 2, 0}, {20, 21, 0.25, 0}};
    std::vector<DetourBalance::Pair> all = few;
    for (std::uint32_t s = 0; s < groups.size(); ++s) {
      for (std::uint32_t d = 0; d < groups.size(); ++d) {
        if (s != d) all.push_back({s, d, 1e-12, 0});
      }
    }
    balance.balance(few, 100);
    balance.balance(all, 100);
    for (std::size_t i = 0; i < few.size(); ++i)
      CHECK(few[i].detoured == Approx(all[i].detoured).margin(0.01));
    CHECK(few[0].detoured > 0.1);
    CHECK(few[2].detoured == 0);
  }
}

TEST_CASE(
    "detour balance: detours within a group are by its own switches where the policy keeps them there") {
  // A router with two hosts to another of its group of four, at four times the rate of their link. Half of
  // its detours are none, the others divide over the two routers that are left.
  const Net net("dragonfly:p=2");
  const HostGroups groups(net.topology, net.table, false);
  const std::unique_ptr<PathModel> model = net.paths("slingshot");
  DetourBalance balance(net.topology, *model, groups,
                        std::vector<double>(net.topology.channels().size(), 1.0));
  CHECK(balance.near(0, 1) == Approx(0.5));
  CHECK(balance.near(0, 4) == Approx(4.0 / 72));
  std::vector<DetourBalance::Pair> pairs = {{0, 1, 4, 0}};
  balance.balance(pairs, 100);
  CHECK(pairs[0].detoured == Approx(1));
  const DetourBalance::Loads loads = balance.loads(pairs);
  std::vector<double> direct, detoured;
  for (std::size_t c = 0; c < loads.direct.size(); ++c) {
    if (loads.direct[c] > 0) direct.push_back(loads.direct[c]);
    if (loads.detoured[c] > 0) detoured.push_back(loads.detoured[c]);
  }
  CHECK(direct == std::vector<double>{2});
  CHECK(detoured == std::vector<double>(4, 1));
}

TEST_CASE("detour balance: links that are down are nobody's way") {
  const Net net("hyperx:dims=8,hosts=4");
  const std::unique_ptr<PathModel> model = net.paths("ugal");
  const HostGroups groups(net.topology, net.table, false);
  std::vector<double> capacity;
  const topologies::Vertex first = net.topology.switch_at(0), second = net.topology.switch_at(1);
  for (const topologies::Channel& c : net.topology.channels()) {
    capacity.push_back(c.from == first && c.to == second ? 0 : 1);
  }
  DetourBalance balance(net.topology, *model, groups, capacity);
  std::vector<DetourBalance::Pair> pairs = {{0, 1, 1, 0}};
  const DetourBalance::Loads loads = balance.loads(pairs);
  for (std::size_t c = 0; c < capacity.size(); ++c) {
    if (capacity[c] == 0) CHECK(loads.direct[c] == 0);
  }
}

}  // namespace weft::routing
