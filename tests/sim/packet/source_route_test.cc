// Source routes: packets take the ways that their senders name, and selectors hear which one news are of.
#include "sim/routing/source_route.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/units/input_error.h"
#include "tests/sim/packet/divided.h"
#include "tests/sim/packet/support.h"
#include "tests/sim/routing/named_routes.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kMtu = 4096;

topologies::Topology leaf_spine(const char* spines = "3") {
  return topologies::build(
      parse_module_choice(std::string("leaf_spine:leaves=2,hosts_per_leaf=2,spines=") + spines));
}

// Data packets are as long as they are; ACKs 64 bytes.
std::uint64_t data_packets(const results::Link& link, std::uint64_t size) { return link.bytes / size; }

topologies::Vertex find_node(const topologies::Topology& topology, const std::string& name) {
  for (std::uint32_t v = 0; v < topology.nodes(); ++v) {
    if (topology.node(v).name == name) return v;
  }
  throw std::logic_error("no node " + name);
}

// Always the same way, which is set before the run.
class OneWay final : public routing::PathSelector {
 public:
  routing::Path next(const routing::PathRequest&) override { return {.route = &route}; }
  static inline routing::SourceRoute route;
};
routing::Policy one_way() {
  return {.info = {.name = "one_way"},
          .make_path_selectors = [](const routing::PlanSetup&) -> routing::PathSelectorMaker {
            return [](const routing::PathSetup&) { return std::make_unique<OneWay>(); };
          },
          .source_routes = true};
}

TEST_CASE("the ways that are named in turn get equal numbers of packets, and no other link any") {
  const auto topology = leaf_spine();
  for (const char* queue : {"droptail:capacity=1GB", "composite:capacity=1GB", "pfc"}) {
    INFO(queue);
    Simulation simulation(topology, {.queue = queue, .policy = routing::named_routes()});
    simulation.send(0, 2, 300 * kMtu);
    simulation.run();
    REQUIRE(simulation.client.deliveries == 1);
    int up = 0, down = 0;
    for (const results::Link& link : simulation.network.links()) {
      const bool goes_up = link.from == "leaf 0" && link.to.starts_with("spine");
      const bool goes_down = link.from.starts_with("spine") && link.to == "leaf 1";
      if (goes_up || goes_down) REQUIRE(data_packets(link, 4160) == 100);
      up += goes_up;
      down += goes_down;
    }
    REQUIRE(up == 3);
    REQUIRE(down == 3);
    REQUIRE(simulation.signal("route_loss") == 0);
  }
}

TEST_CASE("a named way may be a long one") {
  // Round a ring of six the wrong way: five links between switches in place of one.
  const auto topology = topologies::build(parse_module_choice("torus:dims=6"));
  std::vector<topologies::Vertex> switches = {topology.switch_at(0)};
  for (std::uint32_t s = 5; s > 0; --s) switches.push_back(topology.switch_at(s));
  OneWay::route = routing::route_over(topology, 0, 0, switches, 1);
  Simulation simulation(topology, {.policy = one_way()});
  simulation.send(0, 1, 10 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  int used = 0;
  for (const results::Link& link : simulation.network.links()) used += data_packets(link, 4160) == 10;
  REQUIRE(used == 7);
}

TEST_CASE("a link on the way that is down drops the packets, and the selector hears which way that was") {
  const auto topology = leaf_spine();
  const topologies::Vertex leaf = find_node(topology, "leaf 0"), spine = find_node(topology, "spine 1");
  std::uint32_t cut = 0;
  for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
    const topologies::Channel& wire = topology.channels()[c];
    if (wire.from == leaf && wire.to == spine) cut = c;
  }
  Options options{.control = "fixed_window:packets=30", .policy = routing::named_routes()};
  options.changes = {{.at = Time(), .link = cut / 2, .rate_share = 0}};
  options.config.reconvergence = Time::us(1'000'000);
  Simulation simulation(topology, options);
  simulation.send(0, 2, 2000 * kMtu);
  simulation.run();
  REQUIRE(simulation.client.deliveries == 1);
  const std::uint64_t lost = simulation.signal("link_down_loss");
  REQUIRE(lost > 0);
  REQUIRE(simulation.signal("route_loss") >= lost);
  // It was left out once that was known: a third of all would have been lost else.
  REQUIRE(lost < 200);
  const std::vector<results::Link> links = simulation.network.links();
  for (const results::Link& link : links) {
    if (link.from == "leaf 0" && link.to == "spine 0") REQUIRE(data_packets(link, 4160) > 900);
    if (link.from == "leaf 0" && link.to == "spine 2") REQUIRE(data_packets(link, 4160) > 900);
    if (link.from == "spine 1" && link.to == "leaf 1") REQUIRE(data_packets(link, 4160) == 0);
  }
}

TEST_CASE("ACKs go back the named way where they retrace") {
  const auto topology = leaf_spine();
  for (const bool retrace : {false, true}) {
    routing::Policy policy = routing::named_routes();
    policy.asks.acks_retrace = retrace;
    Simulation simulation(topology, {.policy = policy});
    simulation.send(0, 2, 300 * kMtu);
    simulation.run();
    REQUIRE(simulation.verdict() == "");
    std::vector<std::uint64_t> back;
    for (const results::Link& link : simulation.network.links()) {
      if (link.from.starts_with("spine") && link.to == "leaf 0") back.push_back(link.packets);
    }
    REQUIRE((back == std::vector<std::uint64_t>{100, 100, 100}) == retrace);
  }
}

TEST_CASE("a route that makes no sense ends the run with the reason") {
  const auto topology = leaf_spine();
  const auto port = [&](const char* from, const char* to) {
    const auto out = topology.out_channels(find_node(topology, from));
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (topology.node(topology.channels()[out[i]].to).name == to) return static_cast<std::uint16_t>(i);
    }
    throw std::logic_error("no such link");
  };
  const auto fails = [&](const std::vector<std::uint16_t>& ports, const std::string& why) {
    OneWay::route = {};
    for (const std::uint16_t each : ports) OneWay::route.ports[OneWay::route.length++] = each;
    Simulation simulation(topology, {.policy = one_way()});
    CHECK_THROWS_WITH(simulation.send(0, 2, kMtu), "source route from host 0 to host 2: " + why);
  };
  const std::uint16_t up = port("leaf 0", "spine 1"), down = port("spine 1", "leaf 1");
  fails({99}, "leaf 0 has no port 99, but 5, from 0");
  fails({up, down}, "it ends at leaf 1");
  fails({up, down, port("leaf 1", "host 3")}, "it ends at host 3");
  fails({port("leaf 0", "host 1"), 0}, "it goes on behind host 1");
  const topologies::Vertex leaf = find_node(topology, "leaf 0");
  CHECK_THROWS_WITH(routing::route_over(topology, 0, 0, std::vector{leaf, find_node(topology, "leaf 1")}, 2),
                    "source route from host 0 to host 2: there is no link from leaf 0 to leaf 1");
  CHECK_THROWS_WITH(routing::route_over(topology, 0, 0, std::vector{find_node(topology, "spine 0")}, 2),
                    "source route from host 0 to host 2: it must begin with leaf 0, where NIC 0 leads");
  CHECK_THROWS_WITH(routing::route_over(topology, 0, 1, std::vector{leaf}, 2),
                    "source route from host 0 to host 2: there is no NIC 1");
  CHECK_THROWS_WITH(routing::route_over(topology, 0, 0, std::vector(16, leaf), 2),
                    "source route from host 0 to host 2: 16 switches, and 15 is the most that one may name");
}

TEST_CASE("a policy that names routes has to say so") {
  const auto topology = leaf_spine();
  routing::Policy policy = routing::named_routes();
  policy.source_routes = false;
  Simulation simulation(topology, {.policy = policy});
  CHECK_THROWS_WITH(simulation.send(0, 2, kMtu), Catch::Contains("does not declare that it does"));
}

TEST_CASE("source routes: one account, however the network is divided") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 6)));
  RandomStream random(seed, 31);
  const auto topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=3,spines=3,hosts_per_leaf=3"));
  Options options{.control = "fixed_window:packets=30", .policy = routing::named_routes()};
  options.seed = seed;
  const char* const queues[] = {"droptail:capacity=40KB", "composite:capacity=40KB", "pfc:xoff=60KB"};
  options.queue = queues[random.below(3)];
  options.config.ack_every = random.below(2) == 0 ? 1 : 4;
  options.config.connections.per_message = random.below(2) == 0;
  options.policy.asks.acks_retrace = random.below(2) == 0;
  if (random.below(2) == 0) {
    options.changes = {{.at = Time::us(5), .link = 10, .rate_share = 0},
                       {.at = Time::us(60), .link = 10, .rate_share = 1}};
    options.config.reconvergence = Time::us(10);
  }
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < 60; ++i) {
    messages.push_back({.source = static_cast<std::uint32_t>(random.below(9)),
                        .destination = static_cast<std::uint32_t>(random.below(9)),
                        .bytes = random.below(200'000),
                        .client = {i}});
  }
  const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
  REQUIRE(whole.delivered == messages.size());
  for (const std::uint32_t parts : {2, 4}) {
    REQUIRE(run_divided(topology, options, messages, random_division(topology, parts, random), 2) == whole);
  }
}

}  // namespace
}  // namespace weft::sim::packet
