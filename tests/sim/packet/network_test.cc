// Determinism, policies, and the modules' parameters.
#include <catch2/catch.hpp>
#include <set>

#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kMtu = 4096;

topologies::Topology small_fat_tree() {
  return topologies::build(
      parse_module_choice("fat_tree:k=4,link=100Gbps,latency=500ns,switch_latency=100ns"));
}

void all_to_all(Simulation& simulation, std::uint32_t hosts, std::uint64_t bytes) {
  for (std::uint32_t a = 0; a < hosts; ++a) {
    for (std::uint32_t b = 0; b < hosts; ++b) simulation.send(a, b, bytes);
  }
}

const Options kBusy{.control = "dctcp", .queue = "ecn:capacity=60KB,pmax=0.5", .policy = spray()};

TEST_CASE("a run twice, and with any bucket width of the event queue, is the same run") {
  const auto topology = small_fat_tree();
  std::set<std::uint64_t> digests;
  std::set<std::string> outcomes;
  for (int shift : {15, 15, 8, 12, 20}) {
    Options options = kBusy;
    options.bucket_shift = shift;
    Simulation simulation(topology, options);
    all_to_all(simulation, topology.hosts(), 50'000);
    simulation.run();
    REQUIRE(simulation.verdict() == "");
    REQUIRE(simulation.signal("drop") > 0);
    REQUIRE(simulation.signal("ecn_mark") > 0);
    digests.insert(simulation.engine.digest());
    std::string outcome;
    for (const auto& flow : simulation.network.flows()) {
      outcome += std::to_string(flow.finish.ps()) + ":" + std::to_string(flow.packets) + " ";
    }
    outcomes.insert(outcome);
  }
  REQUIRE(digests.size() == 1);
  REQUIRE(outcomes.size() == 1);
}

TEST_CASE("another seed is another run") {
  const auto topology = small_fat_tree();
  std::set<std::uint64_t> digests;
  for (std::uint64_t seed : {1, 2, 3}) {
    Options options = kBusy;
    options.seed = seed;
    Simulation simulation(topology, options);
    all_to_all(simulation, topology.hosts(), 20'000);
    simulation.run();
    REQUIRE(simulation.verdict() == "");
    digests.insert(simulation.engine.digest());
  }
  REQUIRE(digests.size() == 3);
}

// Stops at every poll.
class StopOften final : public RunControl {
 public:
  StopReason poll(Time, std::uint64_t) override { return StopReason::kInterrupt; }
};

TEST_CASE("two simulations in one process, taking turns, do not touch each other") {
  const auto topology = small_fat_tree();
  const auto alone = [&](std::uint64_t seed) {
    Options options = kBusy;
    options.seed = seed;
    Simulation simulation(topology, options);
    all_to_all(simulation, topology.hosts(), 100'000);
    simulation.run();
    return simulation.engine.digest();
  };
  Options options = kBusy;
  options.seed = 1;
  Simulation one(topology, options);
  options.seed = 2;
  Simulation two(topology, options);
  all_to_all(one, topology.hosts(), 100'000);
  all_to_all(two, topology.hosts(), 100'000);
  StopOften stop;
  int turns = 0;
  for (bool more = true; more; ++turns) {
    more = one.network.run(stop) != StopReason::kNone;
    more = two.network.run(stop) != StopReason::kNone || more;
  }
  REQUIRE(turns > 1);
  REQUIRE(one.verdict() == "");
  REQUIRE(two.verdict() == "");
  REQUIRE(one.engine.digest() == alone(1));
  REQUIRE(two.engine.digest() == alone(2));
}

TEST_CASE("the client's own events come back to it, in order with the network's") {
  const auto topology = star(2, Bandwidth::gbps(400), Time::ns(500), Time());
  Simulation simulation(topology, {});
  const EntityId client = simulation.engine.add_entities(1);
  simulation.engine.schedule(Time::ns(1), client, kClientKinds + 5, 42);
  simulation.send(0, 1, 1);
  simulation.run();
  REQUIRE(simulation.client.events.size() == 1);
  REQUIRE(simulation.client.events[0].payload == 42);
  REQUIRE(simulation.verdict() == "");
}

TEST_CASE("a switch policy is asked and obeyed, for ACKs too; a selector hears of every ACK") {
  struct Seen {
    int asked = 0, acks_asked = 0, answers = 0, losses = 0;
  };
  // Module factories are plain functions, so the counts are found through this one pointer.
  static thread_local Seen* seen = nullptr;
  class First final : public routing::SwitchPolicy {
   public:
    routing::Output choose(const routing::PacketView& packet, routing::RouteNote&,
                           std::span<const std::uint32_t> candidates, routing::ActiveSwitch& here) override {
      ++seen->asked;
      if (packet.control) ++seen->acks_asked;
      REQUIRE(candidates.size() >= 2);
      REQUIRE(packet.source == (packet.control ? 15u : 0u));
      REQUIRE(packet.destination == (packet.control ? 0u : 15u));
      REQUIRE(here.backlog(candidates[0]) >= Time());
      return {.port = candidates[0]};
    }
  };
  class Counting final : public routing::PathSelector {
   public:
    routing::Path next(const routing::PathRequest& request) override { return {request.number}; }
    void on_ack(const routing::PathNews&) override { ++seen->answers; }
    void on_loss(const routing::PathNews&) override { ++seen->losses; }
  };
  const routing::Policy policy{
      .info = {.name = "first"},
      .make_plan =
          [](const routing::PlanSetup&) {
            return routing::each_switch(
                [](std::uint32_t, RandomStream) { return std::make_unique<First>(); });
          },
      .make_path_selectors = [](const routing::PlanSetup&) -> routing::PathSelectorMaker {
        return [](const routing::PathSetup&) { return std::make_unique<Counting>(); };
      }};
  Seen counts;
  seen = &counts;
  const auto topology = small_fat_tree();
  Simulation simulation(topology, {.policy = policy});
  simulation.send(0, 15, 100 * kMtu);  // through edge, aggregation, core, aggregation, edge
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  // Edge and aggregation switch have a choice on the way up, and so do the ACKs'.
  REQUIRE(counts.asked == 400);
  REQUIRE(counts.acks_asked == 200);
  REQUIRE(counts.answers == 100);
  REQUIRE(counts.losses == 0);
  // One path out, one back: six channels each.
  int used = 0;
  for (const auto& link : simulation.network.links()) used += link.packets > 0 ? 1 : 0;
  REQUIRE(used == 12);
}

TEST_CASE("the built-in rule: a flow keeps its path, flows and sprayed packets spread evenly") {
  const auto topology = topologies::build(parse_module_choice("fat_tree:k=8,link=400Gbps"));
  SECTION("one flow, one path") {
    Simulation simulation(topology, {});
    simulation.send(0, 127, 200 * kMtu);
    simulation.run();
    int used = 0;
    for (const auto& link : simulation.network.links()) used += link.packets > 0 ? 1 : 0;
    // Six channels out; the ACKs' way back may share no cable with it: six more.
    REQUIRE(used == 12);
    REQUIRE(simulation.verdict() == "");
  }
  SECTION("16 core links are used alike by sprayed packets, and by as many flows") {
    const bool sprayed = GENERATE(true, false);
    Simulation simulation(topology,
                          {.control = "fixed_window:packets=50", .policy = sprayed ? spray() : one_path()});
    constexpr int kPackets = 16'000;
    if (sprayed) {
      simulation.send(0, 127, kPackets * kMtu);
    } else {
      for (int i = 0; i < kPackets; ++i) simulation.send(0, 127, 1);
    }
    simulation.run();
    REQUIRE(simulation.verdict() == "");
    // Data packets into cores: those whose link starts at an aggregation switch of pod 0. The cores of the
    // reverse way see ACKs from pod 7. Chi-squared over the 16 links, 15 degrees of freedom.
    double chi_squared = 0;
    int links = 0;
    const auto& channels = topology.channels();
    const auto reports = simulation.network.links();
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const auto& from = topology.node(channels[c].from);
      const auto& to = topology.node(channels[c].to);
      if (from.tier != 2 || to.tier != 3 || from.group != topology.node(topology.host(0)).group) continue;
      const double expected = kPackets / 16.0;
      const double difference = static_cast<double>(reports[c].packets) - expected;
      chi_squared += difference * difference / expected;
      ++links;
    }
    REQUIRE(links == 16);
    REQUIRE(chi_squared < 37.7);  // one in a thousand is above
  }
}

TEST_CASE("queue rules and their defaults") {
  const QueueSite site{.rate = Bandwidth::gbps(400), .rtt = Time::us(10), .packet_bytes = 4160};
  const auto rule = [&](const std::string& text) {
    const ModuleChoice choice = parse_module_choice(text);
    const Discipline& discipline = find_module(disciplines(), choice, "queue");
    return discipline.rule(Parameters(discipline.info, choice), site);
  };
  REQUIRE(rule("droptail").capacity_bytes == 500'000);  // 400 Gb/s × 10 us / 8
  REQUIRE_FALSE(rule("droptail").marks);
  REQUIRE(rule("ecn").mark_from_bytes == 125'000);
  REQUIRE(rule("ecn").mark_all_bytes == 375'000);
  REQUIRE(rule("ecn:capacity=1MB,kmin=0,kmax=10KB").mark_from_bytes == 0);
  for (const char* bad : {"ecn:capacity=100", "ecn:kmin=20KB,kmax=10KB", "ecn:pmax=1.5", "ecn:kmin=600KB"}) {
    INFO(bad);
    REQUIRE_THROWS_AS(rule(bad), InputError);
  }
  const QueueSite near{.rate = Bandwidth::gbps(100), .rtt = Time::ns(10), .packet_bytes = 4160};
  const Discipline& droptail = disciplines()[0];
  REQUIRE(droptail.rule(Parameters(droptail.info, ModuleChoice{}), near).capacity_bytes == 32 * 4160);
}

TEST_CASE("the model's own parameters") {
  const auto config = [](const std::string& text) {
    return packet_config(Parameters(packet_module(), parse_module_choice(text)));
  };
  const PacketConfig defaults = config("packet"), built_in;
  REQUIRE(defaults.mtu_bytes == built_in.mtu_bytes);
  REQUIRE(defaults.header_bytes == built_in.header_bytes);
  REQUIRE(defaults.ack_bytes == built_in.ack_bytes);
  REQUIRE(defaults.min_timeout == built_in.min_timeout);
  REQUIRE(defaults.local_bandwidth == built_in.local_bandwidth);
  REQUIRE(defaults.local_latency == built_in.local_latency);
  REQUIRE(defaults.send_delay == built_in.send_delay);
  REQUIRE(defaults.receive_delay == built_in.receive_delay);
  REQUIRE(defaults.host_delay == built_in.host_delay);
  REQUIRE(defaults.ack_every == built_in.ack_every);
  REQUIRE(defaults.ack_delay == built_in.ack_delay);
  REQUIRE(defaults.nic_choice == built_in.nic_choice);
  REQUIRE(defaults.timeout_jitter == built_in.timeout_jitter);
  REQUIRE(config("packet:nic_choice=least_loaded").nic_choice == NicChoice::kLeastLoaded);
  REQUIRE(config("packet:mtu=1KiB").mtu_bytes == 1024);
  for (const char* bad :
       {"packet:mtu=0", "packet:mtu=2MiB", "packet:ack=0", "packet:local_bandwidth=0", "packet:min_timeout=0",
        "packet:speed=1", "packet:ack_every=0", "packet:ack_every=65", "packet:ack_delay=0ns",
        "packet:timeout_jitter=1.5", "packet:nic_choice=best"}) {
    INFO(bad);
    REQUIRE_THROWS_AS(config(bad), InputError);
  }
}

}  // namespace
}  // namespace weft::sim::packet
