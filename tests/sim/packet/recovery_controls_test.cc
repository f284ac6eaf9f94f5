// Each loss recovery end to end: with every queue it can live with, over one path and many, on links that
// lose packets; at a bottleneck that is shared; and what sets it apart.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <numeric>

#include "congestion/recoveries/recoveries.h"
#include "tests/sim/packet/divided.h"
#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kMtu = 4096;
const Bandwidth kRate = Bandwidth::gbps(400);

constexpr const char* kRecoveries[] = {"rack",
                                       "erasure_coding",
                                       "erasure_coding:data=32,redundant=8,code=xor",
                                       "go_back_n",
                                       "irn",
                                       "selective_repeat",
                                       "selective_repeat:per_path=true",
                                       "sleek",
                                       "trim_nack"};

void choose_recovery(const std::string& text, Options& options) {
  const ModuleChoice choice = parse_module_choice(text);
  options.recovery = find_module(congestion::recoveries(), choice, "recovery");
  options.recovery_parameters = choice.given;
}

// Hosts on one switch whose links lose packets.
topologies::Topology lossy_star(int hosts, double loss) {
  topologies::Topology topology("lossy star");
  const auto hub = topology.add_switch("hub", 1, 0, Time::ns(100));
  for (int h = 0; h < hosts; ++h) {
    topology.add_link(topology.add_host("h" + std::to_string(h)), hub,
                      {.rate = kRate, .latency = Time::ns(500), .loss = loss});
  }
  topology.finish();
  return topology;
}

// Three leaves with three hosts each, two spines.
topologies::Topology lossy_leaves(double loss) {
  topologies::Topology topology("lossy leaves");
  const topologies::Link link{.rate = kRate, .latency = Time::ns(500), .loss = loss};
  const auto first = topology.add_switch("spine 0", 2, 0, Time::ns(100));
  const auto second = topology.add_switch("spine 1", 2, 1, Time::ns(100));
  for (int l = 0; l < 3; ++l) {
    const auto leaf = topology.add_switch("leaf " + std::to_string(l), 1, 0, Time::ns(100));
    topology.add_link(leaf, first, link);
    topology.add_link(leaf, second, link);
    for (int h = 0; h < 3; ++h) {
      topology.add_link(topology.add_host(fmt::format("h{}.{}", l, h)), leaf, link);
    }
  }
  topology.finish();
  return topology;
}

// The queue, set as the resolver would for this recovery; "": they can't go together.
std::string suited(const std::string& queue, const congestion::RecoveryKind& recovery) {
  const Discipline& discipline = find_module(disciplines(), parse_module_choice(queue), "queue");
  const CapabilityOffers& offers = discipline.offers;
  if (!offers.at_most().has_all(recovery.needs.required)) return "";
  if (recovery.needs.forbidden.has(Capability::kTrim) && offers.at_most().has(Capability::kTrim)) {
    return queue + ",trim=false";
  }
  return queue;
}

TEST_CASE("each recovery with each queue: all is delivered over links that lose packets, in any division") {
  const std::string name = GENERATE(from_range(std::begin(kRecoveries), std::end(kRecoveries)));
  const std::string queue = GENERATE("droptail:capacity=60KB", "ecn:capacity=60KB,kmin=10KB,kmax=30KB",
                                     "composite:capacity=33KB", "pfc");
  Options options;
  choose_recovery(name, options);
  options.queue = suited(queue, options.recovery);
  if (options.queue.empty()) return;
  const auto topology = lossy_leaves(0.01);
  std::uint64_t seed = 1;
  for (const char* control : {"fixed_window:packets=40", "dctcp"}) {
    for (const bool sprays : {false, true}) {
      INFO(name << " " << queue << " " << control << " " << sprays);
      RandomStream random(++seed, 21);
      options.control = control;
      options.policy = sprays ? spray() : one_path();
      options.config.ack_every = seed % 2 == 0 ? 1 : 4;
      options.config.connections.per_message = seed % 3 != 0;
      std::vector<Message> messages;
      for (std::uint32_t i = 0; i < 27; ++i) {
        messages.push_back({.source = i % 9,
                            .destination = static_cast<std::uint32_t>(random.below(4)),
                            .notify_sent = true,
                            .bytes = random.below(120'000),
                            .client = {i}});
      }
      const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
      REQUIRE(whole.delivered == messages.size());
      REQUIRE(whole.calls.size() == 2 * messages.size());  // and every sender was told
      REQUIRE(whole.signal("drop") > 0);
      REQUIRE(whole.signal("given_up") == 0);
      const Account divided =
          run_divided(topology, options, messages, random_division(topology, 3, random), 2);
      REQUIRE(divided == whole);
    }
  }
}

// Receivers are told of redundant packets, which may come when all is there.
TEST_CASE("erasure coding under receivers of all kinds: all is delivered, in any division") {
  const std::string control = GENERATE("ndp", "eqds", "rccc", "nscc_rccc", "dcqcn:cnp_interval=1us");
  const bool per_message = GENERATE(true, false);
  INFO(control << " " << per_message);
  Options options{.control = control, .queue = "composite:capacity=33KB,kmin=8KB,kmax=16KB"};
  choose_recovery("erasure_coding", options);
  options.config.connections.per_message = per_message;
  const auto topology = lossy_leaves(0.01);
  RandomStream random(per_message ? 1 : 2, 31);
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < 40; ++i) {
    messages.push_back({.source = i % 9,
                        .destination = static_cast<std::uint32_t>(random.below(4)),
                        .notify_sent = true,
                        .bytes = random.below(150'000),
                        .client = {i}});
  }
  const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
  REQUIRE(whole.delivered == messages.size());
  REQUIRE(whole.signal("redundant") > 0);
  REQUIRE(whole.signal("given_up") == 0);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(run_divided(topology, options, messages, random_division(topology, 2 + i, random), 2) == whole);
  }
}

TEST_CASE("each recovery: flows share a bottleneck, and keep it full") {
  const std::string name = GENERATE(from_range(std::begin(kRecoveries), std::end(kRecoveries)));
  const std::uint32_t senders = GENERATE(2, 8, 10);
  INFO(name << " " << senders);
  Options options{.control = "dctcp"};
  choose_recovery(name, options);
  options.queue = options.recovery.needs.required.has(Capability::kTrim)
                      ? "composite:capacity=400KB,kmin=60KB,kmax=60KB"
                      : "ecn:capacity=4MB,kmin=60KB,kmax=60KB";
  const auto topology = star(static_cast<int>(senders) + 1, kRate, Time::ns(500), Time::ns(100));
  constexpr std::uint32_t kPackets = 1200;
  Simulation simulation(topology, options);
  for (std::uint32_t host = 0; host < senders; ++host) simulation.send(host, senders, kPackets * kMtu);
  simulation.run();
  REQUIRE(simulation.client.deliveries == senders);
  double sum = 0, squares = 0;
  Time last;
  for (const auto& [message, at] : simulation.client.delivered) {
    sum += 1 / at.seconds();
    squares += 1 / at.seconds() / at.seconds();
    last = std::max(last, at);
  }
  REQUIRE(sum * sum / (senders * squares) >= 0.95);
  const double redundant = name == "erasure_coding" ? 0.25 : name.starts_with("erasure_coding") ? 0.25 : 0;
  const double all = kRate.serialization(4160).seconds() * senders * kPackets * (1 + redundant);
  REQUIRE(all / last.seconds() >= 0.9);
}

TEST_CASE("go-back-N: what is lost costs all that was sent behind it, and nothing is out of order") {
  topologies::Topology topology("lossy star");
  const auto hub = topology.add_switch("hub", 1, 0, Time::ns(100));
  for (int h = 0; h < 5; ++h) {
    topology.add_link(topology.add_host("h" + std::to_string(h)), hub,
                      {.rate = kRate, .latency = Time::ns(500), .loss = 0.005});
  }
  topology.finish();
  Options options{.control = "fixed_window:packets=40"};
  choose_recovery("go_back_n", options);
  options.config.connections.per_message = GENERATE(true, false);
  Simulation simulation(topology, options);
  for (std::uint32_t host = 0; host < 4; ++host) {
    for (int i = 0; i < 3; ++i) simulation.send(host, 4, 100 * kMtu + 17 * host);
  }
  simulation.run();
  REQUIRE(simulation.client.deliveries == 12);
  REQUIRE(simulation.client.delivered.size() == 12);
  REQUIRE(simulation.client.sent.size() == 12);
  REQUIRE(simulation.network.open_flows() == 0);
  REQUIRE(simulation.signal("drop") > 0);
  REQUIRE(simulation.signal("nack") > 0);
  // Each NACK makes a sender go back, and each timeout.
  REQUIRE(simulation.signal("go_back") == simulation.signal("nack") + simulation.signal("timeout"));
  // Each drop of data makes the sender go back over what was in flight: more is sent again than was lost.
  REQUIRE(simulation.signal("retransmit") > simulation.signal("drop"));
  REQUIRE(simulation.network.totals().out_of_order_packets == 0);
}

TEST_CASE("go-back-N without losses is as good as any") {
  const auto topology = star(2, kRate, Time::ns(500), Time::ns(100));
  Options options{.control = "fixed_window:packets=40"};
  Simulation rack(topology, options);
  rack.send(0, 1, 300 * kMtu);
  rack.run();
  choose_recovery("go_back_n", options);
  Simulation simulation(topology, options);
  simulation.send(0, 1, 300 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.client.delivered == rack.client.delivered);
}

TEST_CASE("go-back-0 sends the whole message again for one loss, go-back-N what follows it") {
  const auto topology = lossy_star(2, 0.002);
  std::map<std::string, std::uint64_t> again;
  for (const char* restart : {"packet", "message"}) {
    Options options{.control = "fixed_window:packets=10"};
    choose_recovery(fmt::format("go_back_n:restart={}", restart), options);
    Simulation simulation(topology, options);
    for (int i = 0; i < 20; ++i) simulation.send(0, 1, 100 * kMtu);
    simulation.run();
    REQUIRE(simulation.client.deliveries == 20);
    REQUIRE(simulation.network.open_flows() == 0);
    again[restart] = simulation.signal("retransmit");
  }
  // A loss makes go-back-0 send about half of a hundred packets again, and go-back-N a window of ten.
  REQUIRE(again["message"] > 2 * again["packet"]);
}

TEST_CASE("IRN has no more under way than the path holds") {
  const auto topology = star(9, kRate, Time::us(2), Time::ns(100));
  Options options{.control = "fixed_window:packets=1000"};
  choose_recovery("irn", options);
  Simulation simulation(topology, options);
  for (std::uint32_t host = 0; host < 8; ++host) simulation.send(host, 8, 500 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  std::uint64_t longest = 0;
  for (const results::Link& link : simulation.network.links())
    longest = std::max(longest, link.max_queue_bytes);
  // Out and back: four links, a packet and an ACK each at two of them, and the switch.
  const Time round_trip =
      Time::us(8) + (kRate.serialization(4160) + kRate.serialization(64)) * 2 + Time::ns(200);
  const auto window = static_cast<std::uint64_t>(kRate.bps() / 8 * round_trip.seconds() / kMtu) + 1;
  REQUIRE(longest <= 8 * window * 4160);
  REQUIRE(longest >= 4 * window * 4160);
}

TEST_CASE("per path, spraying without losses sends nothing again, and losses don't wait for a timeout") {
  const auto topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=2,spines=4,hosts_per_leaf=4"));
  // Eight entropies in turn.
  routing::Policy policy = spray();
  policy.make_path_selectors = [](const routing::PlanSetup&) -> routing::PathSelectorMaker {
    class InTurn final : public routing::PathSelector {
      routing::Path next(const routing::PathRequest& request) override { return {request.number % 8 * 977}; }
    };
    return [](const routing::PathSetup&) { return std::make_unique<InTurn>(); };
  };
  Options options{.control = "fixed_window:packets=64", .queue = "droptail:capacity=1GB"};
  options.policy = policy;
  choose_recovery(GENERATE("selective_repeat:per_path=true", "erasure_coding:per_path=true"), options);
  Simulation simulation(topology, options);
  for (std::uint32_t host = 0; host < 4; ++host) simulation.send(host, 4 + host, 2000 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.network.totals().out_of_order_packets > 0);
  REQUIRE(simulation.signal("retransmit") == 0);
}

TEST_CASE("erasure coding: a loss that is rebuilt is never sent again") {
  const auto topology = lossy_star(2, 0.002);
  Options options{.control = "fixed_window:packets=200"};
  choose_recovery("erasure_coding:data=8,redundant=8", options);
  Simulation simulation(topology, options);
  for (int i = 0; i < 10; ++i) simulation.send(0, 1, 400 * kMtu);
  simulation.run();
  REQUIRE(simulation.client.deliveries == 10);
  REQUIRE(simulation.signal("drop") > 10);
  REQUIRE(simulation.signal("block_again") == 0);
  REQUIRE(simulation.signal("retransmit") == 0);
  REQUIRE(simulation.signal("timeout") == 0);
}

TEST_CASE("erasure coding: what comes to a block that is there is redundant, not a duplicate") {
  Options options{.control = "fixed_window:packets=200", .queue = "droptail:capacity=1GB"};
  choose_recovery("erasure_coding:data=8,redundant=2", options);
  options.config.connections.per_message = GENERATE(true, false);
  const auto topology = star(2, kRate, Time::ns(500), Time::ns(100));
  Simulation simulation(topology, options);
  // 20 blocks of 8, and one of 3: all is sent before the first ACK is there.
  simulation.send(0, 1, (20 * 8 + 3) * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("duplicate") == 0);
  REQUIRE(simulation.signal("redundant") == 20 * 2 + 2);
}

TEST_CASE("erasure coding: redundant packets of lossy links are counted as needed or not") {
  Options options{.control = "fixed_window:packets=200"};
  choose_recovery("erasure_coding:data=8,redundant=8", options);
  const auto topology = lossy_star(2, 0.01);
  Simulation simulation(topology, options);
  for (int i = 0; i < 5; ++i) simulation.send(0, 1, 400 * kMtu);
  simulation.run();
  REQUIRE(simulation.client.deliveries == 5);
  REQUIRE(simulation.signal("retransmit") == 0);
  REQUIRE(simulation.signal("duplicate") == 0);
  // Each block needs 8 of its packets; the signal counts those that came beyond these.
  REQUIRE(simulation.signal("redundant") > 0);
  REQUIRE(simulation.signal("redundant") <= 5 * 400);
}

}  // namespace
}  // namespace weft::sim::packet
