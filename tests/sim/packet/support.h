// A packet network from short forms, with a client that notes when what came.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "congestion/controls/controls.h"
#include "congestion/recoveries/rack.h"
#include "sim/packet/packet_network.h"
#include "tests/sim/packet/checker.h"
#include "tests/sim/packet/scheduled_checker.h"

namespace weft::sim::packet {

class RecordingClient final : public NetworkClient {
 public:
  explicit RecordingClient(const Engine& engine) : engine_(engine) {}
  void on_sent(const Message& message) override { sent[message.client[0]] = engine_.now(); }
  void on_delivered(const Message& message) override {
    ++deliveries;
    delivered[message.client[0]] = engine_.now();
  }
  void on_event(const Event& event) override { events.push_back(event); }

  std::map<std::uint32_t, Time> sent, delivered;  // by Message::client[0]
  std::uint64_t deliveries = 0;
  std::vector<Event> events;

 private:
  const Engine& engine_;
};

class RunOn final : public RunControl {
 public:
  StopReason poll(Time, std::uint64_t) override { return StopReason::kNone; }
};

// A new random entropy for every packet.
class SprayForTest final : public routing::PathSelector {
 public:
  explicit SprayForTest(RandomStream random) : random_(random) {}
  routing::Path next(const routing::PathRequest&) override {
    return {static_cast<std::uint32_t>(random_.next())};
  }

 private:
  RandomStream random_;
};

inline routing::Policy one_path() { return {.info = {.name = "one_path"}}; }
inline routing::Policy spray() {
  return {.info = {.name = "spray"},
          .make_path_selectors = [](const routing::PlanSetup&) -> routing::PathSelectorMaker {
            return
                [](const routing::PathSetup& setup) { return std::make_unique<SprayForTest>(setup.random); };
          }};
}

struct Options {
  std::string control = "fixed_window:packets=1000";
  std::string queue = "droptail:capacity=1GB";
  congestion::RecoveryKind recovery = congestion::rack();
  std::map<std::string, std::string> recovery_parameters = {};
  routing::Policy policy = one_path();
  std::map<std::string, std::string> policy_parameters = {};
  PacketConfig config;
  std::uint64_t seed = 1;
  int bucket_shift = 15;
  std::vector<LinkChange> changes;
  ScheduledChecker::Expected expected;  // of queues that decide packet by packet
};

// Everything one simulation needs, with the checker watching.
class Simulation {
 public:
  Simulation(const topologies::Topology& topology, const Options& options)
      : Simulation(topology, options, control_named(options.control)) {}
  Simulation(const topologies::Topology& topology, const Options& options, const congestion::Control& control)
      : engine(options.seed, options.bucket_shift),
        client(engine),
        table_(topology),
        policy_(options.policy),
        control_(control),
        recovery_(options.recovery),
        discipline_(find_module(disciplines(), parse_module_choice(options.queue), "queue")),
        network(engine, client,
                {.topology = topology,
                 .table = table_,
                 .policy = policy_,
                 .policy_parameters = Parameters(policy_.info, options.policy_parameters),
                 .control = control_,
                 .control_parameters = parameters(control_.info, options.control),
                 .recovery = recovery_,
                 .recovery_parameters = Parameters(recovery_.info, options.recovery_parameters),
                 .queue = discipline_,
                 .queue_parameters = parameters(discipline_.info, options.queue),
                 .config = options.config,
                 .changes = options.changes}),
        rule(discipline_.rule == nullptr
                 ? QueueRule()
                 : discipline_.rule(parameters(discipline_.info, options.queue),
                                    {topology.channels()[0].rate, network.longest_round_trip(),
                                     options.config.mtu_bytes + options.config.header_bytes})),
        checker(topology, rule, options.config.send_delay),
        scheduled(topology, options.expected) {
    if (discipline_.rule != nullptr) {
      network.set_observer(&checker);
    } else {
      network.set_observer(&scheduled);
    }
  }

  // Injects a message now; its number is the key in the client's maps.
  std::uint32_t send(std::uint32_t source, std::uint32_t destination, std::uint64_t bytes) {
    network.inject({.source = source,
                    .destination = destination,
                    .notify_sent = true,
                    .bytes = bytes,
                    .client = {messages_}});
    bytes_ += bytes;
    return messages_++;
  }
  // Four messages of up to 300 kB from each host to any, itself included.
  void send_at_random(std::uint32_t hosts) {
    RandomStream random(1, 77);
    for (std::uint32_t host = 0; host < hosts; ++host) {
      for (int i = 0; i < 4; ++i) {
        // First to whom, then how much.
        const auto destination = static_cast<std::uint32_t>(random.below(hosts));
        send(host, destination, random.below(300'000));
      }
    }
  }
  void run() {
    RunOn on;
    network.run(on);
  }
  // "" if every message came exactly once, nothing is left and the checker is content.
  std::string verdict() const {
    if (client.deliveries != messages_ || client.delivered.size() != messages_) return "messages are missing";
    if (client.sent.size() != messages_) return "senders were not told";
    if (network.open_flows() != 0) return "flows are left";
    const results::NetworkTotals totals = network.totals();
    if (totals.messages != messages_ || totals.bytes != bytes_) return "wrong totals of messages";
    if (totals.packets_injected != totals.packets_delivered + totals.packets_dropped) return "packets lost";
    if (discipline_.rule != nullptr) return compare(totals, checker);
    return compare(totals, scheduled);
  }
  std::uint64_t signal(const std::string& name) const {
    for (const auto& [signal, count] : network.totals().signals) {
      if (signal == name) return count;
    }
    throw std::logic_error("no signal " + name);
  }

  Engine engine;
  RecordingClient client;

 private:
  template <typename Watch>
  std::string compare(const results::NetworkTotals& totals, const Watch& watch) const {
    if (totals.bytes_injected != totals.bytes_delivered + totals.bytes_dropped + totals.bytes_trimmed)
      return "bytes lost";
    if (totals.bytes_injected != watch.injected() || totals.bytes_dropped != watch.dropped() ||
        totals.bytes_trimmed != watch.trimmed()) {
      return "totals and checker differ";
    }
    if (totals.packet_hops != watch.hops() || signal("drop") != watch.drops()) return "wrong counts";
    return watch.verdict();
  }
  static const congestion::Control& control_named(const std::string& text) {
    return find_module(congestion::controls(), parse_module_choice(text), "control");
  }
  static Parameters parameters(const ModuleInfo& info, const std::string& text) {
    const ModuleChoice choice = parse_module_choice(text);
    return Parameters(info, choice.given, choice.location);
  }

  routing::RoutingTable table_;
  routing::Policy policy_;
  congestion::Control control_;
  congestion::RecoveryKind recovery_;
  Discipline discipline_;
  std::uint32_t messages_ = 0;
  std::uint64_t bytes_ = 0;

 public:
  PacketNetwork network;
  QueueRule rule;
  Checker checker;             // watches FIFO queues with a rule
  ScheduledChecker scheduled;  // watches the others
};

// Hosts 0 and 1 with `switches` switches between them, all links alike.
inline topologies::Topology chain(int switches, Bandwidth rate, Time latency, Time switch_latency) {
  topologies::Topology topology("chain");
  topologies::Vertex last = topology.add_host("a");
  for (int s = 0; s < switches; ++s) {
    const auto next = topology.add_switch("s" + std::to_string(s), 1, 0, switch_latency);
    topology.add_link(last, next, {rate, latency});
    last = next;
  }
  const auto end = topology.add_host("b");
  topology.add_link(last, end, {rate, latency});
  topology.finish();
  return topology;
}

// `hosts` hosts on one switch.
inline topologies::Topology star(int hosts, Bandwidth rate, Time latency, Time switch_latency) {
  topologies::Topology topology("star");
  const auto hub = topology.add_switch("hub", 1, 0, switch_latency);
  for (int h = 0; h < hosts; ++h) {
    const auto host = topology.add_host("h" + std::to_string(h));
    topology.add_link(host, hub, {rate, latency});
  }
  topology.finish();
  return topology;
}

}  // namespace weft::sim::packet
