// What switches know of packets' ways: minimal ports against the table's candidates, trails and named routes
// against the steps that were taken.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/packet/minimal_ways.h"
#include "sim/packet/switch_policies.h"
#include "sim/packet/trails.h"
#include "sim/routing/table/routing_table.h"
#include "tests/sim/packet/support.h"
#include "tests/sim/routing/example_policies.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

struct Network {
  explicit Network(const std::string& text) : topology(topologies::build(parse_module_choice(text))) {}
  void fail(std::uint32_t link) { channels.apply({.at = Time(), .link = link, .rate_share = 0}); }
  std::uint32_t port_of(std::uint32_t channel) const {
    const auto out = topology.out_channels(topology.channels()[channel].from);
    return static_cast<std::uint32_t>(std::find(out.begin(), out.end(), channel) - out.begin());
  }

  const topologies::Topology topology;
  const routing::RoutingTable table{topology};
  const topologies::Partitioning partition{.of_vertex = {}, .parts = 1};
  Engine engine{1};
  const std::array<Engine*, 1> engines{&engine};
  Channels channels{engines, topology, table, partition, 64};
};

// For each switch and host: the channels of the table's candidates that are up, in their order.
void compare_with_table(Network& network, MinimalWays& ways) {
  std::vector<std::uint32_t> room;
  for (std::uint32_t s = 0; s < network.topology.switches(); ++s) {
    const NodeId at = network.channels.node_of(SwitchId(s));
    for (std::uint32_t host = 0; host < network.topology.hosts(); ++host) {
      std::vector<std::uint32_t> expected;
      for (const std::uint32_t c : network.channels.table->candidates(at, host)) {
        if (!(network.channels.hot[c].flags & kDown)) expected.push_back(c);
      }
      const auto found = ways.towards(
          at, host, MinimalWays::kNoSet, [&]() -> auto& { return room; });
      REQUIRE(found.ports.size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::uint32_t port = found.ports[i];
        REQUIRE(port == network.port_of(expected[i]));
        REQUIRE(ways.checked_exit(at, port, host) == expected[i]);
        REQUIRE(ways.channel_of(at, port) == expected[i]);
        if (found.set.count != 0) REQUIRE(found.channel(port) == expected[i]);
      }
    }
  }
}

TEST_CASE("minimal ports are those of the table's candidates, whatever fails") {
  const std::string name =
      GENERATE("fat_tree:k=4", "dragonfly:p=2", "torus:dims=3x4", "slim_fly:q=5", "single_switch:hosts=5");
  CAPTURE(name);
  Network network(name);
  MinimalWays ways(network.channels, true);
  compare_with_table(network, ways);
  network.fail(static_cast<std::uint32_t>(network.topology.channels().size()) / 2 - 1);
  compare_with_table(network, ways);  // nobody has told the table yet
  network.channels.reroute();
  compare_with_table(network, ways);
}

TEST_CASE("ports that policies may not choose are refused") {
  Network network("single_switch:hosts=3");
  const MinimalWays ways(network.channels, true);
  const NodeId at = network.channels.node_of(SwitchId(0));
  for (std::uint32_t port = 0; port < 3; ++port) {
    const ChannelEnd end = network.channels.ends[network.topology.out_channels(at)[port]];
    for (std::uint32_t host = 0; host < 3; ++host) {
      if (end.node() == network.topology.host(host)) {
        REQUIRE(ways.checked_exit(at, port, host) == network.topology.out_channels(at)[port]);
      } else {
        REQUIRE_THROWS_AS(ways.checked_exit(at, port, host), std::logic_error);
      }
    }
  }
  REQUIRE_THROWS_AS(ways.checked_exit(at, 3, 0), std::logic_error);
}

// On a ring of switches a packet may go round for as long as it likes.
struct Ring : Network {
  explicit Ring(const routing::Policy& policy)
      : Network("torus:dims=6"),
        policies(engines, policy, {parameters, topology, table, 1}),
        trails(pool, channels, policies) {
    pool[packet] = Packet();
    trails.begin(packet);
  }
  // The port from switch `s` to the next one.
  std::uint32_t onward(std::uint32_t s) const {
    const auto to = topology.switch_at((s + 1) % topology.switches());
    for (const std::uint32_t c : topology.out_channels(topology.switch_at(s))) {
      if (topology.channels()[c].to == to) return c;
    }
    return UINT32_MAX;
  }
  // Goes `steps` switches on from the first one; policies are asked at every other.
  void go(std::uint32_t steps) {
    for (std::uint32_t s = 0; s < steps; ++s) {
      trails.note_way(ChannelId(onward(s % topology.switches())), packet);
      if (s % 2 == 0) trails.note_asked(packet);
    }
  }
  // Where an ACK goes at the switch that the packet came to with its step `s`.
  Trails::Step back(std::uint32_t s) {
    pool[packet].kind = PacketKind::kAck;
    trails.begin(packet);
    const NodeId at = channels.node_of(SwitchId((s + 1) % topology.switches()));
    const Trails::Step ahead = trails.step_ahead(at, packet), now = trails.step_back(at, packet);
    if (now.channel != kNoChannel) REQUIRE(now.channel == ahead.channel);
    return now;
  }

  const Parameters parameters{routing::retracing().info, std::map<std::string, std::string>()};
  SwitchPolicies policies;
  PacketPool pool;
  const PacketHandle packet = pool.acquire();
  Trails trails;
};

TEST_CASE("ACKs step back on what was noted of their data's way, and know where a policy was asked") {
  Ring ring(routing::retracing());
  REQUIRE(ring.trails.retraced());
  REQUIRE(ring.trails.any());
  REQUIRE_FALSE(ring.trails.has_route(ring.packet));
  const std::uint32_t steps = GENERATE(1u, 5u, 15u, 16u, 40u);
  ring.go(steps);
  for (std::uint32_t s = steps; s-- > 0;) {
    const Trails::Step step = ring.back(s);
    if (steps > routing::Trail::kMost) {  // too long to be noted: it finds its own way
      REQUIRE(step.channel == kNoChannel);
      continue;
    }
    const ChannelId came{ring.onward(s % 6)};
    REQUIRE(step.channel == opposite(came));
    REQUIRE(step.port == ring.port_of(opposite(came)));
    REQUIRE(step.asked == (s % 2 == 0));
  }
  REQUIRE(ring.back(0).channel == kNoChannel);
}

TEST_CASE("from a link that is down an ACK finds its own way") {
  Ring ring(routing::retracing());
  ring.go(4);
  ring.fail(ring.onward(2) / 2);
  REQUIRE(ring.back(3).channel == opposite(ChannelId(ring.onward(3))));
  const Trails::Step failed = ring.back(2);
  REQUIRE(failed.channel == kNoChannel);
  REQUIRE_FALSE(failed.asked);
  REQUIRE(ring.back(1).channel == kNoChannel);
}

TEST_CASE("the next packet with the same handle has no trail") {
  Ring ring(routing::retracing());
  ring.go(3);
  ring.trails.begin(ring.packet);
  REQUIRE(ring.back(2).channel == kNoChannel);
}

TEST_CASE("a named route is followed switch by switch, and refused behind its end") {
  routing::Policy policy = routing::retracing();
  policy.source_routes = true;
  Ring ring(policy);
  RouteRecord record;
  for (std::uint32_t s = 0; s < 3; ++s) {
    record.route.ports[record.route.length++] = static_cast<std::uint16_t>(ring.port_of(ring.onward(s)));
  }
  record.route.ports[record.route.length++] = 99;  // no such port
  ring.pool.routes().set(ring.packet, record);
  REQUIRE(ring.trails.has_route(ring.packet));
  const auto at = [&](std::uint32_t s) { return ring.channels.node_of(SwitchId(s)); };
  for (std::uint32_t s = 0; s < 3; ++s) {
    REQUIRE(ring.trails.route_ahead(at(s), ring.packet) == ring.onward(s));
    if (s == 1) {
      ring.trails.pass_named(ring.packet);  // it was told ahead
    } else {
      REQUIRE(ring.trails.follow_route(at(s), ring.packet) == ring.onward(s));
    }
  }
  REQUIRE(ring.trails.route_ahead(at(3), ring.packet) == kNoChannel);
  REQUIRE_THROWS_AS(ring.trails.follow_route(at(3), ring.packet), std::logic_error);
  REQUIRE_THROWS_AS(ring.trails.follow_route(at(4), ring.packet), std::logic_error);
  ring.pool[ring.packet].kind = PacketKind::kAck;  // it only tells which route that was
  REQUIRE_FALSE(ring.trails.has_route(ring.packet));
}

}  // namespace
}  // namespace weft::sim::packet
