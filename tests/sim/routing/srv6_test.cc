// Source routes with path states: which ways are drawn, and which of them packets take.
#include "sim/routing/policies/srv6.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/core/random.h"
#include "sim/routing/parts/shortest_routes.h"
#include "sim/routing/source_route.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/families.h"

namespace weft::routing {
namespace {

using Ports = std::vector<std::uint16_t>;
using topologies::Topology;
using topologies::Vertex;

Topology network(const std::string& text) { return topologies::build(parse_module_choice(text)); }

Ports ports_of(const SourceRoute& route) { return {route.ports.begin(), route.ports.begin() + route.length}; }

// By definition: all that the routing table's next links lead to.
std::set<Ports> all_ways(const Topology& topology, const RoutingTable& table, Vertex at,
                         std::uint32_t destination) {
  std::set<Ports> ways;
  const std::function<void(Vertex, Ports)> go = [&](Vertex from, const Ports& so_far) {
    if (from == topology.host(destination)) {
      ways.insert(so_far);
      return;
    }
    const auto out = topology.out_channels(from);
    const auto candidates = table.candidates(from, destination);
    for (const std::uint32_t channel : candidates) {
      Ports longer = so_far;
      longer.push_back(static_cast<std::uint16_t>(std::find(out.begin(), out.end(), channel) - out.begin()));
      go(topology.channels()[channel].to, longer);
    }
  };
  go(at, {});
  return ways;
}

std::set<Ports> as_set(const std::vector<SourceRoute>& routes) {
  std::set<Ports> set;
  for (const SourceRoute& route : routes) set.insert(ports_of(route));
  return set;
}

TEST_CASE("shortest routes: all there are, or so many different ones, for random pairs") {
  const std::string text = GENERATE("fat_tree:k=6", "jellyfish:n=30,r=5,hosts=2", "slim_fly:q=5",
                                    "torus:dims=4x4x3", "multi_plane:k=4,planes=3", "dragonfly:p=2,a=4,h=2",
                                    "leaf_spine:leaves=3,spines=2,hosts_per_leaf=2,uplinks=6");
  INFO(text);
  const Topology topology = network(text);
  const RoutingTable table(topology);
  ShortestRoutes shortest(topology, {});
  sim::RandomStream random(5, 1);
  for (int pair = 0; pair < 100; ++pair) {
    const auto from = static_cast<std::uint32_t>(random.below(topology.hosts()));
    const auto to = static_cast<std::uint32_t>(random.below(topology.hosts()));
    if (from == to) continue;
    const auto nics = topology.out_channels(topology.host(from));
    const auto nic = static_cast<std::uint32_t>(random.below(nics.size()));
    const std::set<Ports> all = all_ways(topology, table, topology.channels()[nics[nic]].to, to);
    const std::vector<SourceRoute> every = shortest.draw(from, nic, to, 10'000, random);
    REQUIRE(every.size() == all.size());
    REQUIRE(as_set(every) == all);
    const std::size_t some = 1 + random.below(all.size());
    const std::vector<SourceRoute> drawn = shortest.draw(from, nic, to, some, random);
    REQUIRE(drawn.size() == some);
    const std::set<Ports> different = as_set(drawn);
    REQUIRE(different.size() == some);
    REQUIRE(std::includes(all.begin(), all.end(), different.begin(), different.end()));
    for (const SourceRoute& route : drawn) check_route(topology, nics[nic], to, route);
  }
}

TEST_CASE("shortest routes: each way is drawn about as often as any other") {
  const Topology topology = network("fat_tree:k=8");
  ShortestRoutes shortest(topology, {});
  std::map<Ports, int> count;
  for (std::uint64_t seed = 0; seed < 1600; ++seed) {
    sim::RandomStream random(seed, 3);
    ++count[ports_of(shortest.draw(0, 0, 100, 1, random).front())];
  }
  REQUIRE(count.size() == 16);
  // Mean 100; five standard deviations of a binomial share are 48.
  for (const auto& [way, times] : count) REQUIRE(std::abs(times - 100) < 48);
}

TEST_CASE("shortest routes: ways that are too long are refused") {
  const Topology topology = network("torus:dims=40");
  ShortestRoutes shortest(topology, {});
  sim::RandomStream random(1, 1);
  REQUIRE(shortest.draw(0, 0, 14, 4, random).front().length == 15);
  CHECK_THROWS_WITH(shortest.draw(0, 0, 15, 4, random),
                    "source routes: the shortest way from host 0 to host 15 has 16 switches, and a source "
                    "route holds 15 at most; choose a network with shorter paths, or another routing policy");
}

// One connection's selector, and what it did.
class Connection {
 public:
  Connection(const Topology& topology, const std::map<std::string, std::string>& parameters,
             std::uint32_t to = 8, std::uint64_t seed = 1)
      : topology_(topology) {
    const Policy policy = srv6();
    const RoutingTable table(topology);
    const Parameters given(policy.info, parameters);
    const PathSelectorMaker maker = policy.make_path_selectors({given, topology, table});
    selector_ = maker({.source = 0,
                       .destination = to,
                       .random = sim::RandomStream(seed, 0),
                       .topology = &topology,
                       .signals = counted.data()});
  }
  Path send(bool again = false) { return selector_->next({.now = now, .again = again}); }
  void ack(const Path& path, bool marked = false) {
    selector_->on_ack({.now = now, .path = {.route = path.route}, .rtt = Time::us(5), .ecn_marked = marked});
  }
  void trim(const Path& path) { selector_->on_trim({.now = now, .path = path}); }
  void lose(const Path& path) { selector_->on_loss({.now = now, .path = path}); }
  // What the next packets take, which all arrive.
  std::map<const SourceRoute*, int> send_many(int packets) {
    std::map<const SourceRoute*, int> used;
    for (int i = 0; i < packets; ++i) {
      const Path path = send();
      ++used[path.route];
      nic_of[path.route] = path.nic;
    }
    return used;
  }
  std::map<int, int> by_nic(const std::map<const SourceRoute*, int>& used) {
    std::map<int, int> count;
    for (const auto& [route, packets] : used) count[nic_of[route]] += packets;
    return count;
  }

  Time now = Time::us(1);
  std::array<std::uint64_t, 4> counted{};  // skipped, assumed bad, restored, probes
  std::map<const SourceRoute*, int> nic_of;

 private:
  const Topology& topology_;
  std::unique_ptr<PathSelector> selector_;
};

TEST_CASE("srv6: planes take equal turns, and so do the ways of a plane") {
  const Topology topology = network("multi_plane:k=8,planes=8");
  Connection connection(topology, {});
  const auto used = connection.send_many(8 * 4 * 10);  // four spines in each plane
  REQUIRE(used.size() == 32);
  for (const auto& [route, packets] : used) {
    REQUIRE(packets == 10);
    const std::uint32_t nic = topology.out_channels(topology.host(0))[connection.nic_of[route]];
    check_route(topology, nic, 8, *route);
  }
  for (int i = 0; i < 8; ++i) REQUIRE(connection.by_nic(connection.send_many(8)).size() == 8);
}

TEST_CASE("srv6: as many ways as it was given, divided among the planes, and others for another connection") {
  const Topology topology = network("multi_plane:k=16,planes=4");
  Connection one(topology, {{"paths", "12"}}), same(topology, {{"paths", "12"}}),
      other(topology, {{"paths", "12"}}, 8, 2);
  const auto ways = [](Connection& connection) {
    std::set<std::pair<int, Ports>> set;
    for (const auto& [route, packets] : connection.send_many(120)) {
      set.insert({connection.nic_of[route], ports_of(*route)});
    }
    return set;
  };
  const auto first = ways(one);
  REQUIRE(first.size() == 12);
  REQUIRE(ways(same) == first);
  REQUIRE(ways(other) != first);
  std::map<int, int> in_plane;
  for (const auto& [nic, ports] : first) ++in_plane[nic];
  REQUIRE(in_plane == std::map<int, int>{{0, 3}, {1, 3}, {2, 3}, {3, 3}});
}

TEST_CASE("srv6: a mark or a trimmed packet lets a way miss one turn, and its plane's next takes it") {
  const Topology topology = network("multi_plane:k=8,planes=2");
  Connection connection(topology, {});
  const Path path = connection.send();
  const bool trimmed = GENERATE(false, true);
  for (int i = 0; i < 3; ++i) {  // more of them are one
    if (trimmed) {
      connection.trim(path);
    } else {
      connection.ack(path, true);
    }
  }
  (void)connection.send();
  // Its turn was just over: the other three come first, then it is left out.
  const auto used = connection.send_many(2 * 6);
  REQUIRE(connection.by_nic(used) == std::map<int, int>{{0, 6}, {1, 6}});
  REQUIRE(used.find(path.route) == used.end());
  REQUIRE(connection.counted[0] == 1);
  REQUIRE(connection.send_many(2 * 4).at(path.route) == 1);
}

TEST_CASE("srv6: a backup of the same plane takes the place of a lost way") {
  const Topology topology = network("multi_plane:k=16,planes=2");
  Connection connection(topology, {{"paths", "8"}, {"backups", "4"}});
  auto used = connection.send_many(80);
  REQUIRE(used.size() == 8);
  std::set<const SourceRoute*> lost;
  // Two backups in each plane: two losses leave four ways, two more take them away.
  for (const std::size_t left : {4, 4, 3, 2}) {
    const auto victim = std::find_if(used.begin(), used.end(),
                                     [&](const auto& each) { return connection.nic_of[each.first] == 1; });
    connection.lose({.nic = 1, .route = victim->first});
    connection.lose({.nic = 1, .route = victim->first});  // it is known
    lost.insert(victim->first);
    used = connection.send_many(240);
    REQUIRE(connection.by_nic(used) == std::map<int, int>{{0, 120}, {1, 120}});
    std::set<const SourceRoute*> second;
    for (const auto& [route, packets] : used) {
      REQUIRE(lost.find(route) == lost.end());
      if (connection.nic_of[route] == 1) second.insert(route);
      REQUIRE(packets == (connection.nic_of[route] == 1 ? 120 / static_cast<int>(left) : 30));
    }
    REQUIRE(second.size() == left);
  }
  REQUIRE(connection.counted[1] == 4);
}

TEST_CASE("srv6: a plane that lost all ways is left out, tried, and comes back") {
  const Topology topology = network("multi_plane:k=8,planes=3");
  Connection connection(topology, {{"probe", "100us"}});
  std::set<const SourceRoute*> ways;
  for (const auto& [route, packets] : connection.send_many(120)) {
    if (connection.nic_of[route] != 1) continue;
    ways.insert(route);
    connection.lose({.nic = 1, .route = route});
  }
  REQUIRE(connection.by_nic(connection.send_many(120)) == std::map<int, int>{{0, 60}, {2, 60}});
  // Each time another way; what is sent again is no probe.
  std::set<const SourceRoute*> tried;
  for (int i = 0; i < 4; ++i) {
    connection.now += Time::us(100);
    for (int n = 0; n < 30; ++n) REQUIRE(connection.send(true).nic != 1);
    for (const auto& [route, packets] : connection.send_many(60)) {
      if (connection.nic_of[route] != 1) continue;
      REQUIRE(packets == 1);
      tried.insert(route);
      connection.lose({.nic = 1, .route = route});
    }
  }
  REQUIRE(tried == ways);
  REQUIRE(connection.counted[3] == 4);
  // The link is back: the first probe finds it, and two more follow each that comes back.
  connection.now += Time::us(100);
  std::vector<Path> probes;
  const auto send_round = [&] {
    std::vector<Path> sent;
    for (int n = 0; n < 30; ++n) {
      const Path path = connection.send();
      if (path.nic == 1) sent.push_back(path);
    }
    return sent;
  };
  const std::vector<Path> first = send_round();
  REQUIRE(first.size() == 1);
  connection.ack(first[0]);
  REQUIRE(connection.counted[2] == 1);
  for (const Path& path : send_round()) connection.ack(path);
  REQUIRE(connection.counted[2] == 3);
  for (const Path& path : send_round()) connection.ack(path);
  REQUIRE(connection.counted[2] == 4);
  const auto used = connection.send_many(120);
  REQUIRE(connection.by_nic(used) == std::map<int, int>{{0, 40}, {1, 40}, {2, 40}});
  for (const auto& [route, packets] : used) REQUIRE(packets == 10);
}

TEST_CASE("srv6: where every way is assumed bad, packets take them in turn") {
  const Topology topology = network("multi_plane:k=4,planes=2");
  Connection connection(topology, {}, 4);
  const auto all = connection.send_many(40);
  for (const auto& [route, packets] : all) connection.lose({.route = route});
  REQUIRE(connection.send_many(40) == all);
}

TEST_CASE("srv6: whatever becomes of packets, planes with a way left take equal turns") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 9)));
  sim::RandomStream random(seed, 9);
  const Topology topology = network("multi_plane:k=12,planes=5");
  Connection connection(topology, {{"paths", "20"}, {"backups", "5"}, {"probe", "20us"}}, 30, seed);
  std::map<int, int> sent;
  std::vector<Path> under_way;
  for (int i = 0; i < 20'000; ++i) {
    connection.now += Time::ns(100);
    const Path path = connection.send();
    ++sent[path.nic];
    under_way.push_back(path);
    if (under_way.size() < 50) continue;
    const std::size_t which = random.below(under_way.size());
    const Path told = under_way[which];
    under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(which));
    // No plane loses all: of each, packets over the way to one spine always arrive.
    const bool safe = told.route->ports[0] % 2 == 0;
    switch (random.below(8)) {
      case 0:
        safe ? connection.ack(told) : connection.lose(told);
        break;
      case 1:
        connection.trim(told);
        break;
      default:
        connection.ack(told, random.below(3) == 0);
    }
  }
  REQUIRE(connection.counted[1] > 100);
  for (const auto& [nic, packets] : sent) REQUIRE(packets == 4'000);
}

TEST_CASE("srv6: denied switches and links are on no way") {
  const Topology topology = network("multi_plane:k=8,planes=4");
  Connection connection(topology, {{"denied", "spine 0.*; leaf 1.0 / spine 1.2 ;spine 2.[0-2]"}});
  std::map<int, int> ways;
  for (const auto& [route, packets] : connection.send_many(400)) {
    const int nic = connection.nic_of[route];
    ++ways[nic];
    Vertex at = topology.channels()[topology.out_channels(topology.host(0))[nic]].to;
    const std::string spine =
        topology.node(topology.channels()[topology.out_channels(at)[route->ports[0]]].to).name;
    REQUIRE(spine != "spine 1.2");
    if (nic == 2) REQUIRE(spine == "spine 2.3");
  }
  REQUIRE(ways == std::map<int, int>{{1, 3}, {2, 1}, {3, 4}});
  const auto fails = [&](const std::string& denied, const std::string& why) {
    CHECK_THROWS_WITH(Connection(topology, {{"denied", denied}}), why);
  };
  fails("spine 9.9",
        "srv6: denied is 'spine 9.9', but no switch here is named 'spine 9.9'; names are like 'leaf 0.0'");
  fails("spine 0.0; leaf 0.0 / leaf 0.1",
        "srv6: denied is 'spine 0.0; leaf 0.0 / leaf 0.1', but no link here is named 'leaf 0.0 / leaf 0.1'; "
        "names are like 'leaf 0.0'");
  fails("spine *", "routing srv6: no way from host 0 to host 8 is left by denied='spine *'");
}

TEST_CASE("srv6: what its parameters must be") {
  const Topology topology = network("multi_plane:k=4,planes=2");
  const auto fails = [&](const std::string& name, const std::string& value, const std::string& why) {
    CHECK_THROWS_WITH(Connection(topology, {{name, value}}, 4),
                      "srv6: " + name + " is '" + value + "', but it must be " + why);
  };
  fails("paths", "0", "from 1 to 4096");
  fails("backups", "-1", "from 0 to 4096");
  fails("probe", "0", "above 0 and at most 3600s");
}

}  // namespace
}  // namespace weft::routing
