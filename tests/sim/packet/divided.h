// A packet network in partitions, and an account of everything that must not depend on them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/packet/packet_network.h"
#include "tests/sim/packet/support.h"
#include "topologies/analysis/partition.h"

namespace weft::sim::packet {

struct Account {
  std::uint64_t digest = 0, events = 0, delivered = 0;
  std::vector<std::tuple<std::uint32_t, std::int64_t, int>> calls;  // message, time, sent or delivered
  std::vector<
      std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::int64_t, std::uint32_t, std::uint32_t>>
      flows;
  std::vector<std::pair<std::string, std::uint64_t>> signals;
  std::vector<std::uint64_t> links;  // bytes, packets, drops, marks, longest queue of each

  bool operator==(const Account&) const = default;
  // What a policy, a queue or the transport has counted under this name.
  std::uint64_t signal(const std::string& name) const {
    for (const auto& [each, count] : signals) {
      if (each == name) return count;
    }
    return 0;
  }
  // The last call to a client.
  Time end() const { return calls.empty() ? Time() : Time::ps(std::get<1>(*last_call())); }

 private:
  std::vector<std::tuple<std::uint32_t, std::int64_t, int>>::const_iterator last_call() const {
    return std::max_element(calls.begin(), calls.end(),
                            [](const auto& a, const auto& b) { return std::get<1>(a) < std::get<1>(b); });
  }
};

// Every host to the one that is so many further on, at once.
inline std::vector<Message> shift(const topologies::Topology& topology, std::uint32_t by,
                                  std::uint64_t bytes) {
  std::vector<Message> messages;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    messages.push_back({.source = host,
                        .destination = (host + by) % topology.hosts(),
                        .notify_sent = true,
                        .bytes = bytes,
                        .client = {host}});
  }
  return messages;
}

enum class StopEvery : std::uint8_t { kNever, kPoll };

// Calls of one partition's client. Each has its own, as its thread may differ.
class DividedClient final : public NetworkClient {
 public:
  explicit DividedClient(const Engine& engine) : engine_(engine) {}
  void on_sent(const Message& message) override {
    calls.emplace_back(message.client[0], engine_.now().ps(), 0);
  }
  void on_delivered(const Message& message) override {
    calls.emplace_back(message.client[0], engine_.now().ps(), 1);
  }
  void on_event(const Event&) override {}

  std::vector<std::tuple<std::uint32_t, std::int64_t, int>> calls;

 private:
  const Engine& engine_;
};

class StopAtPoll final : public RunControl {
 public:
  StopReason poll(Time, std::uint64_t) override { return StopReason::kInterrupt; }
};

inline Account run_divided(const topologies::Topology& topology, const Options& options,
                           const std::vector<Message>& messages, const topologies::Partitioning& division,
                           std::uint32_t threads, StopEvery stop = StopEvery::kNever,
                           const congestion::Control* own_control = nullptr, Observer* observer = nullptr) {
  const routing::RoutingTable table(topology);
  const ModuleChoice control_choice = parse_module_choice(options.control);
  const ModuleChoice queue_choice = parse_module_choice(options.queue);
  const congestion::Control& control =
      own_control != nullptr ? *own_control : find_module(congestion::controls(), control_choice, "control");
  const Discipline& queue = find_module(disciplines(), queue_choice, "queue");
  std::vector<std::unique_ptr<Engine>> owned;
  std::vector<std::unique_ptr<DividedClient>> owned_clients;
  std::vector<Engine*> engines;
  std::vector<NetworkClient*> clients;
  for (std::uint32_t p = 0; p < division.parts; ++p) {
    owned.push_back(std::make_unique<Engine>(options.seed));
    engines.push_back(owned.back().get());
    owned_clients.push_back(std::make_unique<DividedClient>(*engines.back()));
    clients.push_back(owned_clients.back().get());
  }
  PacketNetwork network(
      engines, clients,
      {.topology = topology,
       .table = table,
       .policy = options.policy,
       .policy_parameters = Parameters(options.policy.info, options.policy_parameters),
       .control = control,
       .control_parameters = Parameters(control.info, control_choice),
       .recovery = options.recovery,
       .recovery_parameters = Parameters(options.recovery.info, options.recovery_parameters),
       .queue = queue,
       .queue_parameters = Parameters(queue.info, queue_choice),
       .config = options.config,
       .changes = options.changes},
      division);
  if (observer != nullptr) network.set_observer(observer);
  for (const Message& message : messages) network.inject(message);
  if (stop == StopEvery::kNever) {
    RunOn on;
    network.run(on, threads);
  } else {
    StopAtPoll at_poll;
    while (network.run(at_poll, threads) != StopReason::kNone) {
    }
  }
  Account account;
  for (const Engine* engine : engines) {
    account.digest += engine->digest();
    account.events += engine->executed();
  }
  for (const auto& client : owned_clients) {
    account.calls.insert(account.calls.end(), client->calls.begin(), client->calls.end());
  }
  std::sort(account.calls.begin(), account.calls.end());
  for (const auto& call : account.calls) account.delivered += std::get<2>(call);
  for (const results::Flow& flow : network.flows()) {
    account.flows.emplace_back(flow.source, flow.destination, flow.start.ps(), flow.finish.ps(), flow.packets,
                               flow.retransmissions);
  }
  account.signals = network.totals().signals;
  for (const results::Link& link : network.links()) {
    for (const std::uint64_t value :
         {link.bytes, link.packets, link.drops, link.ecn_marks, link.max_queue_bytes}) {
      account.links.push_back(value);
    }
  }
  return account;
}

// Who is watched by it has all events at their time.
class Watching final : public Observer {
 public:
  void on_inject(Time, const Sighting&) override {}
  void on_enqueue(Time, std::uint32_t, const Sighting&, Time) override {}
  void on_transmit(Time, std::uint32_t, const Sighting&, Time) override {}
  void on_trim(Time, std::uint32_t, const Sighting&) override {}
  void on_drop(Time, std::uint32_t, const Sighting&) override {}
  void on_arrive(Time, std::uint32_t, const Sighting&) override {}
  void on_deliver(Time, const Sighting&) override {}
};

// Every node anywhere, so that nearly all links are cut.
inline topologies::Partitioning random_division(const topologies::Topology& topology, std::uint32_t parts,
                                                RandomStream& random) {
  topologies::Partitioning division{.of_vertex = {}, .parts = parts};
  for (std::uint32_t v = 0; v < topology.nodes(); ++v) {
    division.of_vertex.push_back(static_cast<std::uint16_t>(random.below(parts)));
  }
  for (const topologies::Channel& channel : topology.channels()) {
    if (division.of_vertex[channel.from] == division.of_vertex[channel.to]) continue;
    division.lookahead = std::min(division.lookahead, channel.latency);
  }
  return division;
}

}  // namespace weft::sim::packet
