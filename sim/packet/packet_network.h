// The packet-level network: every packet and every ACK of every message, through every queue on its way.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "congestion/congestion.h"
#include "congestion/recovery.h"
#include "sim/core/network.h"
#include "sim/packet/channels.h"
#include "sim/packet/deadlock.h"
#include "sim/packet/fabric.h"
#include "sim/packet/link_changes.h"
#include "sim/packet/livelock.h"
#include "sim/packet/observer.h"
#include "sim/packet/packet_config.h"
#include "sim/packet/queues/queues.h"
#include "sim/packet/transport.h"
#include "sim/results/records.h"
#include "sim/results/series.h"
#include "sim/routing/nics/nic_network.h"
#include "sim/routing/routing.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::sim::packet {

// What a network is made of. Topology and table are not copied and must outlive it; so must the three
// modules.
struct PacketSetup {
  const topologies::Topology& topology;
  const routing::RoutingTable& table;
  const routing::Policy& policy;
  Parameters policy_parameters;
  const congestion::Control& control;
  Parameters control_parameters;
  const congestion::RecoveryKind& recovery;
  Parameters recovery_parameters;
  const Discipline& queue;
  Parameters queue_parameters;
  PacketConfig config;
  std::vector<LinkChange> changes = {};  // of links while it runs, in the order of time
  // Says which of the topology's NICs lead where; null: they all lead everywhere. It must outlive the
  // network.
  const routing::NicNetwork* nics = nullptr;

  // What packets are routed over.
  const topologies::Topology& routed() const { return nics != nullptr ? nics->topology() : topology; }
  const routing::RoutingTable& routes() const { return nics != nullptr ? nics->table() : table; }
};

// The model is written down in MODEL.md. It runs in one or more partitions, each with an
// engine, a client and hosts of its own; results don't depend on how the topology was partitioned.
class PacketNetwork final : public results::Reporter, public results::SeriesSource {
 public:
  // In one partition. Throws InputError if parameters make no sense.
  PacketNetwork(Engine& engine, NetworkClient& client, const PacketSetup& setup);
  // In as many partitions as there are engines. REQUIRES: as many clients, and the partition says as much;
  // lookahead > 0, of all nodes of PacketSetup::routed(); the same number of entities in all engines.
  PacketNetwork(std::span<Engine* const> engines, std::span<NetworkClient* const> clients,
                const PacketSetup& setup, topologies::Partitioning partition);
  ~PacketNetwork() override;

  // The hosts of one partition, as its client sees them.
  Network& part(std::uint32_t partition);
  // Accepts a message at the time of its source's partition. See Network::inject.
  void inject(const Message& message);
  // Executes all events, the clients' too, until none is left, `control` stops it, or the network gets
  // nowhere (kDeadlock): packets that may not be lost wait for each other in a circle, or it is busy and
  // delivers nothing; `threads` run partitions side by side. May be called again after more messages were
  // injected.
  StopReason run(RunControl& control, std::uint32_t threads = 1);

  results::NetworkTotals totals() const override;
  std::vector<results::Link> links() const override;
  // One per delivered message; empty if PacketConfig::record_flows is off.
  std::vector<results::Flow> flows() const override;
  results::FlowStatistics flow_statistics() const override;

  // See Channels::divide_bytes(); may be called before run(). links() are then told by job too.
  void divide_bytes(std::span<const std::uint32_t> job_of_host, std::uint32_t jobs) {
    channels_.divide_bytes(job_of_host, jobs);
  }
  std::vector<std::uint64_t> job_bytes() const override {
    return {channels_.job_bytes().begin(), channels_.job_bytes().end()};
  }

  // For checkers and logs; may be set before run(). Not owned. REQUIRES: one partition.
  void set_observer(Observer* observer);
  // Takes samples while it runs; may be set before run(). Not owned.
  void set_series(results::Series* series) { series_ = series; }
  results::NetworkState network_state() const override;
  void link_states(Time now, std::span<const std::uint32_t> links,
                   std::span<results::LinkState> states) const override;
  // Messages that their senders gave up.
  std::uint64_t given_up() const;
  // Messages not yet acknowledged to the last byte.
  std::uint64_t open_flows() const;
  // Who waits for whom, or what keeps it busy, after a run that ended with kDeadlock; else empty.
  const std::vector<std::string>& deadlock() const { return deadlock_; }
  // Round trip of a full packet without queueing between the hosts farthest apart (seen from host 0).
  Time longest_round_trip() const { return longest_round_trip_; }

 private:
  class Part;
  class Run;

  FabricCounters counters() const;
  // Works out what scheduled queues did before `now`. REQUIRES: no partition runs.
  void settle(Time now);
  bool look_for_deadlock(Time now);
  bool look_for_livelock(Time now);
  void add_module_signals(Signals& signals) const;
  NicId nic_of_channel(ChannelId channel) const;

  const topologies::Topology& topology_;
  const topologies::Partitioning partition_;
  const PacketConfig config_;  // with what the control adds to headers
  const Parameters policy_parameters_;
  const routing::Policy policy_;  // as these parameters make it
  Channels channels_;
  SwitchPolicies policies_;
  Time cut_off_ =
      Time::max();  // when the run was stopped before its end: links have sent less than they took
  Time longest_round_trip_;
  TransportSetup transport_setup_;
  Hosts hosts_;
  std::vector<std::unique_ptr<Part>> parts_;
  results::Series* series_ = nullptr;
  LinkSchedule link_schedule_;
  std::unique_ptr<DeadlockWatch> deadlock_watch_;  // null where packets are dropped
  Time next_look_;
  LivelockWatch livelock_watch_;
  std::vector<std::string> deadlock_;
  std::uint32_t windows_ = 0;  // run so far
};

}  // namespace weft::sim::packet
