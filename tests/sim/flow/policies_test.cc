// Policies that come to divided fluids: rates in closed form, and what packets do.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/sim/flow/support.h"
#include "tests/sim/packet/divided.h"
#include "tests/sim/routing/registered.h"
#include "topologies/families.h"

namespace weft::sim::flow {
namespace {

using routing::registered;
using topologies::Topology;

constexpr std::uint64_t kBytes = 8'192'000, kWire = kBytes + kBytes / 4096 * 64;

Topology network(const std::string& text) { return topologies::build(parse_module_choice(text)); }

PathMaker maker(const routing::Policy& policy, const Topology& topology) {
  return [policy, &topology](const routing::RoutingTable& table, std::span<const double> rate_shares) {
    const Parameters parameters(policy.info, std::map<std::string, std::string>());
    return routing::paths_of(policy, {parameters, topology, table, 1, rate_shares});
  };
}

struct Case {
  std::string policy;
  std::uint32_t senders = 1, by = 1;  // each of the first hosts to the one so many further on
  std::vector<LinkShare> changes = {};
  Time reconvergence = Time();
  std::string queue = "droptail:capacity=1GB";  // of packets
};

std::unique_ptr<Run> fluids(const Topology& topology, const Case& each) {
  const routing::Policy policy = registered(each.policy);
  FlowConfig config;
  config.reconvergence = each.reconvergence;
  config.cut_through = true;
  auto run = std::make_unique<Run>(topology, policy, config, each.changes, 1, maker(policy, topology));
  for (std::uint32_t h = 0; h < each.senders; ++h) run->send(h, (h + each.by) % topology.hosts(), kBytes);
  run->run();
  return run;
}
// Verdicts, but that parts of flows are rounded to whole bytes on each link by itself.
bool is_sound(const Run& run) {
  const std::string verdict = run.verdict();
  return verdict.empty() || verdict == "a switch lost bytes" || verdict == "hosts have sent something else";
}
// When the last message is acknowledged, some headers after the last byte, in times of a host's 100 Gb/s.
double slowdown(const Run& run) {
  Time last;
  for (const auto& [message, time] : run.client.sent) last = std::max(last, time);
  return last.seconds() / Bandwidth::gbps(100).serialization(kWire).seconds();
}
Approx about(double times) { return Approx(times).epsilon(2e-4); }
double as_packets(const Topology& topology, const Case& each) {
  packet::Options options{
      .control = "fixed_window:packets=100", .queue = each.queue, .policy = registered(each.policy)};
  options.config.reconvergence = each.reconvergence;
  for (const LinkShare& change : each.changes) {
    options.changes.push_back({.at = change.at, .link = change.link, .rate_share = change.share});
  }
  std::vector<Message> messages = packet::shift(topology, each.by, kBytes);
  messages.resize(each.senders);
  const packet::Account account =
      packet::run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
  REQUIRE(account.delivered == messages.size());
  return account.end().seconds() / Bandwidth::gbps(100).serialization(kWire).seconds();
}

std::uint32_t link_between(const Topology& topology, const std::string& a, const std::string& b) {
  for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
    const topologies::Channel& channel = topology.channels()[c];
    if (topology.node(channel.from).name == a && topology.node(channel.to).name == b) return c / 2;
  }
  throw std::logic_error("no link from " + a + " to " + b);
}

// Two leaves of four hosts, four spines, all of it at 100 Gb/s.
Topology clos() { return network("leaf_spine:leaves=2,spines=4,hosts_per_leaf=4,link=100Gbps,latency=0ns"); }

}  // namespace

TEST_CASE("k shortest ways: equal shares of each, on a ring both ways round") {
  // From each of four hosts to the next: one link, or three the other way round. Each link has half of one
  // flow one way, and half of three the other: two thirds of all that hosts send get through.
  const Topology ring = network("torus:dims=4,link=100Gbps,latency=0ns");
  for (const std::string policy : {"k_shortest:k=2,per=packet", "edge_disjoint:k=2,per=packet"}) {
    CAPTURE(policy);
    const auto one = fluids(ring, {.policy = policy});
    CHECK(slowdown(*one) == about(1));
    CHECK(is_sound(*one));
    std::uint64_t half = 0, whole = 0;
    for (const results::Link& link : one->network.links()) {
      half += link.bytes == kWire / 2;
      whole += link.bytes == kWire;
    }
    CHECK(half == 4);
    CHECK(whole == 2);
    const auto all = fluids(ring, {.policy = policy, .senders = 4});
    CHECK(slowdown(*all) == about(1.5));
    CHECK(as_packets(ring, {.policy = policy, .senders = 4}) == Approx(1.5).epsilon(0.1));
  }
}

TEST_CASE("minimal, s_mod_k: flows keep the ways of packets") {
  // Eight hosts to the next group of a dragonfly over the one link between the two, though its links could
  // carry more through a third group.
  const Topology dragonfly = network("dragonfly:p=2,link=100Gbps,latency=0ns");
  const auto minimal = fluids(dragonfly, {.policy = "minimal", .senders = 8, .by = 8});
  CHECK(slowdown(*minimal) == about(8));
  CHECK(is_sound(*minimal));
  CHECK(as_packets(dragonfly, {.policy = "minimal", .senders = 8, .by = 8}) == Approx(8).epsilon(0.02));
  CHECK(slowdown(*fluids(dragonfly, {.policy = "ecmp", .senders = 8, .by = 8})) < 7);
  // E. Zahavi et al., 2010: shifts of a full tree meet nowhere.
  const Topology tree = network("fat_tree:k=4,link=100Gbps,latency=0ns");
  for (const std::uint32_t by : {1u, 4u, 7u}) {
    const auto shifted = fluids(tree, {.policy = "s_mod_k", .senders = 16, .by = by});
    CHECK(slowdown(*shifted) == about(1));
    CHECK(is_sound(*shifted));
  }
  // Sources whose numbers agree in the digit that decides meet: 0 and 4 of a leaf with four spines.
  const Topology leaves = network("leaf_spine:leaves=2,spines=4,hosts_per_leaf=8,link=100Gbps,latency=0ns");
  CHECK(slowdown(*fluids(leaves, {.policy = "s_mod_k", .senders = 4, .by = 8})) == about(1));
  CHECK(slowdown(*fluids(leaves, {.policy = "s_mod_k", .senders = 5, .by = 8})) == about(2));
}

TEST_CASE("k shortest ways: a way that is down stops its flow until the link is back") {
  const Topology ring = network("torus:dims=4,link=100Gbps,latency=0ns");
  const std::uint32_t next =
      link_between(ring, ring.node(ring.switch_at(0)).name, ring.node(ring.switch_at(1)).name);
  const auto run = fluids(
      ring, {.policy = "k_shortest:k=2", .changes = {{Time::us(10), next, 0}, {Time::us(110), next, 1}}});
  const Time alone = Bandwidth::gbps(100).serialization(kWire);
  // Headers go ahead over two links, and one comes back over three.
  const Time headers = Bandwidth::gbps(100).serialization(64) * 5;
  CHECK(run->client.sent.at(0) == alone + Time::us(100) + headers);
  CHECK(is_sound(*run));
}

TEST_CASE("srv6: all NICs, and the good ones among their ways") {
  // Two planes of four spines for each of two leaves of four hosts.
  Topology topology("planes");
  std::vector<topologies::Vertex> hosts;
  const topologies::Link link{Bandwidth::gbps(100), Time()};
  for (int h = 0; h < 8; ++h) hosts.push_back(topology.add_host("h" + std::to_string(h)));
  for (const std::string plane : {"0", "1"}) {
    const auto a = topology.add_switch("a" + plane, 1), b = topology.add_switch("b" + plane, 1);
    for (int h = 0; h < 8; ++h) topology.add_link(hosts[h], h < 4 ? a : b, link);
    for (int s = 0; s < 4; ++s) {
      const auto spine = topology.add_switch("s" + plane + std::to_string(s), 2);
      topology.add_link(a, spine, link);
      topology.add_link(b, spine, link);
    }
  }
  topology.finish();
  const auto time = [&](std::uint32_t senders, std::vector<LinkShare> changes) {
    const Case each{
        .policy = "srv6", .senders = senders, .by = 4, .changes = std::move(changes), .queue = "composite"};
    const auto run = fluids(topology, each);
    CHECK(is_sound(*run));
    const double found = slowdown(*run);
    // What packets lose until failures are known, and their way, takes some microseconds of 333.
    CHECK(as_packets(topology, each) == Approx(found).epsilon(0.12));
    return found;
  };
  // Two links of 100 Gb/s.
  CHECK(time(4, {}) == about(0.5));
  // One of two NICs.
  CHECK(time(1, {{Time(), link_between(topology, "h0", "a0"), 0}}) == about(1));
  // One of eight links of a leaf: behind the spine, where the leaf doesn't see it. Seven carry all.
  const std::uint32_t far = link_between(topology, "s00", "b0");
  CHECK(time(4, {{Time(), far, 0}}) == about(4.0 / 7));
  const auto run = fluids(topology, {.policy = "srv6", .senders = 4, .by = 4, .changes = {{Time(), far, 0}}});
  CHECK(run->link("a0", "s00").bytes == 0);
  for (const char* spine : {"s01", "s02", "s03"}) {
    CHECK(run->link("a0", spine).bytes == Approx(4.0 * kWire / 7).epsilon(1e-6));
  }
  for (const char* spine : {"s10", "s11", "s12", "s13"}) {
    CHECK(run->link("a1", spine).bytes == Approx(4.0 * kWire / 7).epsilon(1e-6));
  }
}

TEST_CASE("bitmap and reps: evenly as spray, and around slow and failed links") {
  const Topology topology = clos();
  const std::string leaf = topology.node(topology.switch_at(0)).name;
  std::vector<std::string> spines;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    if (topology.node(topology.switch_at(s)).tier == 2)
      spines.push_back(topology.node(topology.switch_at(s)).name);
  }
  REQUIRE(spines.size() == 4);
  const std::string far = topology.node(topology.switch_at(1)).name;
  const std::uint32_t beyond = link_between(topology, spines[0], far);
  for (const std::string policy : {"bitmap", "reps"}) {
    CAPTURE(policy);
    const auto found = [&](std::vector<LinkShare> changes) {
      return fluids(topology, {.policy = policy, .senders = 4, .by = 4, .changes = std::move(changes)});
    };
    const auto sprayed = fluids(topology, {.policy = "spray", .senders = 4, .by = 4}), evenly = found({});
    CHECK(evenly->client.sent == sprayed->client.sent);
    CHECK(evenly->client.delivered == sprayed->client.delivered);
    for (const std::string& spine : spines) CHECK(evenly->link(leaf, spine).bytes == kWire);
    // A tenth of one of four: 310 Gb/s are left, and all are used.
    const auto slow = found({{Time(), beyond, 0.1}});
    CHECK(slowdown(*slow) == about(4 / 3.1));
    CHECK(slow->link(leaf, spines[0]).bytes == Approx(4 * kWire * 0.1 / 3.1).epsilon(1e-6));
    CHECK(is_sound(*slow));
    // None of one, two links on: at once, though routes are never worked out anew.
    const auto failed = fluids(topology, {.policy = policy,
                                          .senders = 4,
                                          .by = 4,
                                          .changes = {{Time(), beyond, 0}},
                                          .reconvergence = Time::us(1'000'000)});
    CHECK(slowdown(*failed) == about(4.0 / 3));
    CHECK(failed->link(leaf, spines[0]).bytes == 0);
    CHECK(is_sound(*failed));
  }
  // Packets that are sprayed wait for the slow link; recycled entropies go around it.
  const Case slow{
      .policy = "reps", .senders = 4, .by = 4, .changes = {{Time(), beyond, 0.1}}, .queue = "composite"};
  CHECK(as_packets(topology, slow) == Approx(4 / 3.1).epsilon(0.2));
  CHECK(slowdown(*fluids(topology, {.policy = "spray", .senders = 4, .by = 4, .changes = slow.changes})) ==
        Approx(10));
}

TEST_CASE("links built with other rates get parts by their rates where packets go by what is full") {
  // Two leaves of four hosts, four spines; both cables of one spine at a quarter: 325 Gb/s for 400.
  Topology topology("two leaves");
  std::vector<topologies::Vertex> hosts;
  for (int h = 0; h < 8; ++h) hosts.push_back(topology.add_host("h" + std::to_string(h)));
  const topologies::Link full{Bandwidth::gbps(100), Time()}, quarter{Bandwidth::gbps(25), Time()};
  const auto a = topology.add_switch("a", 1), b = topology.add_switch("b", 1);
  for (int h = 0; h < 8; ++h) topology.add_link(hosts[h], h < 4 ? a : b, full);
  for (int s = 0; s < 4; ++s) {
    const auto spine = topology.add_switch("s" + std::to_string(s), 2);
    topology.add_link(a, spine, s == 0 ? quarter : full);
    topology.add_link(b, spine, s == 0 ? quarter : full);
  }
  topology.finish();
  for (const std::string policy :
       {"reps", "bitmap", "minimal_adaptive", "drill", "power_of_two:choices=4", "srv6"}) {
    CAPTURE(policy);
    const Case each{.policy = policy, .senders = 4, .by = 4, .queue = "composite"};
    const auto run = fluids(topology, each);
    CHECK(slowdown(*run) == about(4 / 3.25));
    CHECK(run->link("a", "s0").bytes == Approx(4 * kWire * 0.25 / 3.25).epsilon(1e-6));
    CHECK(is_sound(*run));
    CHECK(as_packets(topology, each) == Approx(4 / 3.25).epsilon(0.25));
  }
  // Shares that nothing corrects: all wait for the slow spine.
  CHECK(slowdown(*fluids(topology, {.policy = "spray", .senders = 4, .by = 4})) == about(4));
  // Each flow keeps one way, drawn by weight, the same as with packets.
  for (const std::uint32_t senders : {1u, 2u, 3u, 4u}) {
    const Case each{.policy = "wcmp", .senders = senders, .by = 4};
    CHECK(slowdown(*fluids(topology, each)) == Approx(as_packets(topology, each)).epsilon(0.02));
  }
  // Slow from the start of the run on is the same as built so, for switches that see their own ports.
  const Topology alike = clos();
  for (const std::string policy : {"minimal_adaptive", "drill", "ugal"}) {
    CAPTURE(policy);
    const std::uint32_t own = link_between(alike, "leaf 0", "spine 0");
    const Case each{.policy = policy, .senders = 4, .by = 4, .changes = {{Time(), own, 0.25}}};
    CHECK(slowdown(*fluids(alike, each)) == about(4 / 3.25));
  }
}

TEST_CASE("weights follow a link that is slowed down, when routes are worked out anew") {
  // One of four links up at half of its rate. In equal parts, that is what all wait for: 200 Gb/s in all.
  // By weight, from 50 us on, all 350 are used.
  const Topology topology = clos();
  const std::string leaf = topology.node(topology.switch_at(0)).name;
  std::uint32_t slow = 0;
  std::string spine;
  for (const std::uint32_t c : topology.out_channels(topology.switch_at(0))) {
    if (topology.node(topology.channels()[c].to).tier != 2) continue;
    slow = c / 2;
    spine = topology.node(topology.channels()[c].to).name;
  }
  const double before = 50e-6 * 50e9 / 8;  // of each host
  const double expected = 50e-6 + (static_cast<double>(kWire) - before) * 8 / 87.5e9;
  const auto run = fluids(topology, {.policy = "switch_spray:choice=weighted",
                                     .senders = 4,
                                     .by = 4,
                                     .changes = {{Time(), slow, 0.5}},
                                     .reconvergence = Time::us(50)});
  CHECK(is_sound(*run));
  for (const auto& [message, time] : run->client.sent) CHECK(time.seconds() == about(expected));
  const double through = 4 * (before / 4 + (static_cast<double>(kWire) - before) / 7);
  CHECK(run->link(leaf, spine).bytes == Approx(through).epsilon(1e-6));
  const Case sprayed{.policy = "switch_spray:choice=weighted",
                     .senders = 4,
                     .by = 4,
                     .changes = {{Time(), slow, 0.5}},
                     .reconvergence = Time::us(50)};
  CHECK(as_packets(topology, sprayed) == Approx(slowdown(*fluids(topology, sprayed))).epsilon(0.08));
}

TEST_CASE("policies that choose by what only packets have are refused, and say by what") {
  const Topology topology = clos();
  const auto refusal = [&](const std::string& policy) {
    try {
      (void)fluids(topology, {.policy = policy});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no refusal");
  };
  CHECK_THAT(refusal("flowlet"), Catch::Contains("at gaps between the packets of a flow"));
  CHECK_THAT(refusal("flowcut"), Catch::Contains("when all packets of a flow have arrived"));
  CHECK_THAT(refusal("plb"), Catch::Contains("packets of a round trip were marked"));
  CHECK_THAT(refusal("dlb"), Catch::Contains("for each packet by what it sees"));
}

}  // namespace weft::sim::flow
