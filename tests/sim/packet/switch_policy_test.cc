// The seam of switches: what policies see, what they may do, and that nothing depends on partitions.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/units/random.h"
#include "tests/sim/packet/divided.h"
#include "tests/sim/routing/example_policies.h"
#include "topologies/analysis/partition.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

topologies::Topology fat_tree() {
  return topologies::build(
      parse_module_choice("fat_tree:k=4,link=100Gbps,latency=500ns,switch_latency=100ns"));
}

Account whole_run(const topologies::Topology& topology, const Options& options,
                  const std::vector<Message>& messages, Observer* observer = nullptr) {
  return run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1, StopEvery::kNever,
                     nullptr, observer);
}

TEST_CASE("every part of the seam gives one account, however the network is divided") {
  const auto topology = fat_tree();
  routing::Valiant::hosts = topology.hosts();
  const auto messages = shift(topology, 5, 200'000);
  RandomStream random(5, 5);
  for (const routing::Policy& policy : {routing::flowlet(), routing::least_queue(), routing::valiant(),
                                        routing::pausing(), routing::retracing(), routing::telling()}) {
    for (const char* queue : {"ecn", "composite:capacity=60KB", "pfc:xoff=60KB", "credit:vcs=8",
                              "credit:vcs=2,selection=routed"}) {
      INFO(policy.info.name << " " << queue);
      const Options options{.control = "fixed_window:packets=40", .queue = queue, .policy = policy};
      const Account whole = whole_run(topology, options, messages);
      REQUIRE(whole.delivered == messages.size());
      for (const std::uint32_t parts : {2, 5}) {
        const auto division = random_division(topology, parts, random);
        REQUIRE(run_divided(topology, options, messages, division, 2) == whole);
      }
    }
  }
}

TEST_CASE("a port that may not send is not taken for an idle one") {
  // Both spines lead to the incast; pfc pauses them. Seen from outside: the two get the same, within a tenth.
  const auto topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=3,spines=2,hosts_per_leaf=4"));
  std::vector<Message> messages;
  for (std::uint32_t host = 4; host < 12; ++host) {
    messages.push_back(
        {.source = host, .destination = host % 2, .notify_sent = true, .bytes = 1'000'000, .client = {host}});
  }
  for (const char* queue : {"pfc:xoff=60KB", "credit"}) {
    INFO(queue);
    const Account account = whole_run(
        topology, {.control = "fixed_window:packets=60", .queue = queue, .policy = routing::least_queue()},
        messages);
    REQUIRE(account.delivered == messages.size());
    std::map<std::string, std::uint64_t> bytes;
    for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
      const auto& from = topology.node(topology.channels()[c].from);
      const auto& to = topology.node(topology.channels()[c].to);
      if (from.kind == topologies::NodeKind::kSwitch && to.kind == topologies::NodeKind::kSwitch) {
        bytes[to.name] += account.links[c * 5];
      }
    }
    std::vector<double> spines;
    for (const auto& [name, sum] : bytes) {
      if (name.starts_with("spine")) spines.push_back(static_cast<double>(sum));
    }
    REQUIRE(spines.size() == 2);
    REQUIRE(spines[0] == Approx(spines[1]).epsilon(0.1));
  }
}

TEST_CASE("an intermediate node spreads what all goes one way") {
  // Every host of a ring of 9 sends to the 4th one on: by minimal paths each link of one direction carries 4
  // messages and the other none; by way of any node both carry (20 / 9 + 20 / 9) / 2 = 2.2 on average.
  const auto topology = topologies::build(parse_module_choice("torus:dims=9"));
  routing::Valiant::hosts = topology.hosts();
  const auto messages = shift(topology, 4, 1'000'000);
  const auto busiest = [&](const routing::Policy& policy) {
    const Account account = whole_run(topology, {.policy = policy}, messages);
    REQUIRE(account.delivered == messages.size());
    std::uint64_t most = 0;
    for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
      most = std::max(most, account.links[c * 5]);
    }
    return static_cast<double>(most);
  };
  const double minimal = busiest(one_path()), spread = busiest(routing::valiant());
  REQUIRE(minimal >= 4e6);
  REQUIRE(spread < 0.75 * minimal);
}

// Notes what its connections are told when they open.
struct Told final : congestion::Sender {
  struct Settings {
    explicit Settings(const Parameters&) {}
  };
  Told(const congestion::FlowInfo& flow, const Settings&) {
    last = flow;
    allowed_.window_bytes = flow.mtu_bytes;
  }
  void start(Time) override {}
  void on_ack(const congestion::Ack&) override {}
  void on_loss(const congestion::Loss&) override {}
  void on_timeout(const congestion::Loss&) override {}

  static inline congestion::FlowInfo last;
};

TEST_CASE("flows know how long the longest path takes that their packets may use") {
  const auto topology = topologies::build(parse_module_choice("torus:dims=9"));
  routing::Valiant::hosts = topology.hosts();
  const congestion::Control told{.info = {.name = "told"},
                                 .make_factory = congestion::SenderFactoryFor<Told>::make};
  for (const auto& [policy, times] : {std::pair{one_path(), 1}, {routing::valiant(), 2}}) {
    Simulation simulation(topology, {.control = "told", .policy = policy}, told);
    simulation.send(0, 1, 1000);
    simulation.run();
    REQUIRE(simulation.client.deliveries == 1);
    REQUIRE(Told::last.base_rtt > Time());
    REQUIRE(Told::last.longest_rtt == Told::last.base_rtt * times);
  }
}

TEST_CASE("flows that are paused stop, and go on") {
  const auto topology = star(9, Bandwidth::gbps(100), Time::ns(500), Time());
  std::vector<Message> messages;
  for (std::uint32_t host = 1; host < 9; ++host) {
    messages.push_back(
        {.source = host, .destination = 0, .notify_sent = true, .bytes = 2'000'000, .client = {host}});
  }
  const auto longest_queue = [&](const routing::Policy& policy) {
    const Account account =
        whole_run(topology, {.control = "fixed_window:packets=100", .policy = policy}, messages);
    REQUIRE(account.delivered == messages.size());
    REQUIRE((account.signal("paused_flow") > 0) == (policy.make_plan != nullptr));
    std::uint64_t most = 0;
    for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
      most = std::max(most, account.links[c * 5 + 4]);
    }
    return most;
  };
  // 8 windows of 100 packets, but for what is on its way; against 2 us and what comes until all know.
  REQUIRE(longest_queue(one_path()) > 2'500'000);
  REQUIRE(longest_queue(routing::pausing()) < 500'000);
}

TEST_CASE("a pause that nothing ends is over after the least timeout") {
  // Two senders at full rate: the queue passes 2 us at once, and each is paused once, a few microseconds
  // after its start. It has sent at most what its window allows until then, and has nothing under way soon
  // after.
  const auto topology = star(3, Bandwidth::gbps(100), Time::ns(500), Time());
  const std::vector<Message> messages{
      {.source = 1, .destination = 0, .notify_sent = true, .bytes = 2'000'000, .client = {1}},
      {.source = 2, .destination = 0, .notify_sent = true, .bytes = 2'000'000, .client = {2}}};
  const auto run = [&](const routing::Policy& policy) {
    return whole_run(topology, {.control = "fixed_window:packets=100", .policy = policy}, messages);
  };
  const Account free = run(one_path()), paused = run(routing::pausing_for_good());
  REQUIRE(paused.delivered == 2);
  REQUIRE(paused.signal("paused_flow") == 2);
  REQUIRE(paused.signal("expired_pause") == 2);
  REQUIRE(free.signal("expired_pause") == 0);
  // The least timeout is 100 us or more; what was under way at the pause takes less.
  const auto end = [](const Account& account) {
    std::int64_t last = 0;
    for (const auto& [message, at, kind] : account.calls) last = std::max(last, at);
    return Time::ps(last);
  };
  REQUIRE(end(paused) > end(free) + Time::us(50));
}

// Compares the way of each ACK with that of its data packet.
class Ways final : public Observer {
 public:
  void on_inject(Time, const Sighting& packet) override {
    if (!packet.ack) data_[key(packet)].clear();
  }
  void on_enqueue(Time, std::uint32_t channel, const Sighting& packet, Time) override {
    auto& way = (packet.ack ? acks_ : data_)[key(packet)];
    way.push_back(packet.ack ? channel ^ 1 : channel);
  }
  void on_drop(Time, std::uint32_t, const Sighting&) override {}
  void on_arrive(Time, std::uint32_t, const Sighting&) override {}
  void on_deliver(Time, const Sighting& packet) override {
    if (!packet.ack) return;
    std::vector<std::uint32_t> back = std::move(acks_[key(packet)]);
    acks_.erase(key(packet));
    std::reverse(back.begin(), back.end());
    ++acks;
    different += back != data_[key(packet)];
  }
  int acks = 0, different = 0;

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  static Key key(const Sighting& packet) {
    return {packet.ack ? packet.destination : packet.source, packet.flow_number, packet.number};
  }
  std::map<Key, std::vector<std::uint32_t>> data_, acks_;
};

TEST_CASE("ACKs retrace the way of their data, and only where asked to") {
  const auto topology = fat_tree();
  const auto messages = shift(topology, 5, 100'000);
  for (const bool retrace : {true, false}) {
    routing::Policy policy = routing::retracing();
    policy.asks.acks_retrace = retrace;
    Ways ways;
    const Account account = whole_run(topology, {.policy = policy}, messages, &ways);
    REQUIRE(account.delivered == messages.size());
    REQUIRE(ways.acks == 16 * 25);
    REQUIRE((ways.different == 0) == retrace);
  }
}

TEST_CASE("a flowlet's packets keep their order if the gap is long, and not if there is none") {
  const auto topology = fat_tree();
  const auto out_of_order = [&](const char* gap) {
    Simulation simulation(topology, {.control = "fixed_window:packets=50",
                                     .policy = routing::flowlet(),
                                     .policy_parameters = {{"gap", gap}}});
    simulation.send_at_random(topology.hosts());
    simulation.run();
    REQUIRE(simulation.verdict() == "");
    // The signal adds up the flowlets of all switches.
    REQUIRE(simulation.signal("flowlet") > topology.switches());
    return simulation.network.totals().out_of_order_packets;
  };
  REQUIRE(out_of_order("1ms") == 0);
  REQUIRE(out_of_order("0ns") > 100);
}

TEST_CASE("a policy is asked once where a link is down, and never for it") {
  static thread_local int asked = 0, wrong = 0;
  class Watching final : public routing::SwitchPolicy {
   public:
    routing::Output choose(const routing::PacketView&, routing::RouteNote&,
                           std::span<const std::uint32_t> minimal, routing::ActiveSwitch& here) override {
      ++asked;
      for (const std::uint32_t port : minimal) wrong += here.held(port);
      return {.port = minimal.front()};
    }
  };
  asked = wrong = 0;
  // Two leaves, three spines: one choice each way. The first spine's link to leaf 0 is down all the time.
  const auto topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=2,spines=3,hosts_per_leaf=1"));
  std::uint32_t cut = 0;
  while (topology.node(topology.channels()[2 * cut].from).kind == topologies::NodeKind::kHost ||
         topology.node(topology.channels()[2 * cut].to).kind == topologies::NodeKind::kHost) {
    ++cut;
  }
  Options options;
  options.policy = {.info = {.name = "watching"},
                    .make_plan =
                        [](const routing::PlanSetup&) {
                          return routing::each_switch(
                              [](std::uint32_t, RandomStream) { return std::make_unique<Watching>(); });
                        },
                    .asks = {.control = false}};
  options.changes = {{.at = Time(), .link = cut, .rate_share = 0}};
  options.config.reconvergence = Time::us(1'000'000);
  const std::vector<Message> messages{
      {.source = 0, .destination = 1, .notify_sent = true, .bytes = 40'960, .client = {0}}};
  const Account account = whole_run(topology, options, messages);
  REQUIRE(account.delivered == 1);
  REQUIRE(asked == 10);
  REQUIRE(wrong == 0);
  REQUIRE(account.signal("detour") >= 10);
}

// Tells others a number, and counts how often it is asked for it.
class Counted final : public routing::SwitchPolicy {
 public:
  static inline std::uint32_t says = 0, asked = 0;
  explicit Counted(RandomStream) {}
  routing::Output choose(const routing::PacketView&, routing::RouteNote&,
                         std::span<const std::uint32_t> ports, routing::ActiveSwitch&) override {
    return {.port = ports.front()};
  }
  routing::Snapshot publish(routing::OwnSwitch&) override {
    ++asked;
    routing::Snapshot snapshot;
    snapshot.words[3] = says;
    return snapshot;
  }
};

TEST_CASE("switches that have nothing to tell are not asked while nothing happens") {
  // One packet, a millisecond under way in each direction.
  const auto topology =
      topologies::build(parse_module_choice("single_switch:hosts=2,link=100Gbps,latency=500us"));
  Options options{.policy = {.info = {.name = "counted"},
                             .make_plan = routing::make_plain<Counted>,
                             .asks = {.snapshot_period = Time::us(1), .snapshot_delay = Time::us(1)}}};
  const auto asked = [&](std::uint32_t says) {
    Counted::says = says;
    Counted::asked = 0;
    const Account account = whole_run(topology, options, {{.source = 0, .destination = 1, .bytes = 100}});
    REQUIRE(account.delivered == 1);
    return Counted::asked;
  };
  REQUIRE(asked(1) >= 2000);
  REQUIRE(asked(0) < 30);
  REQUIRE(Counted::asked > 2);
}

}  // namespace
}  // namespace weft::sim::packet
