// What the rooms of the host side share: the NICs, the settings that are the same for all connections, and
// counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "congestion/congestion.h"
#include "congestion/recovery.h"
#include "sim/core/engine.h"
#include "sim/packet/channels.h"
#include "sim/packet/fabric.h"
#include "sim/packet/mailbox.h"
#include "sim/packet/packet_config.h"
#include "sim/results/flow.h"
#include "sim/results/flow_statistics.h"
#include "sim/routing/nics/nic_choice.h"
#include "sim/routing/routing.h"
#include "topologies/graph/topology.h"

namespace weft::sim::packet {

struct alignas(64) Nic {
  ChannelId channel{0};
  EntityId entity = 0;
  SlotId first_waiting = kNoSlot, last_waiting = kNoSlot;  // connections that may send, in their turn
  SlotId first_live = kNoSlot;                             // all connections with something unacknowledged
  bool busy = false;                                       // a kNicReady event is under way
  bool ack_timer = false;                                  // a kAckTimer event is under way
  std::int64_t timer_ps = INT64_MAX;                       // of the kNicTimer event that counts
  std::int64_t last_timer_ps = INT64_MIN / 2;
  // Connections whose ACKs are held back, in the order of their deadlines (ReceivingSide::Key).
  std::uint64_t first_held = UINT64_MAX, last_held = UINT64_MAX;
  std::uint64_t load_packets = 0;  // of all messages it has that aren't acknowledged
};
static_assert(sizeof(Nic) == 64);

// The hosts of all partitions. Each record is touched by its host's partition only.
struct Hosts {
  Hosts(std::span<Engine* const> engines, const topologies::Topology& topology,
        const routing::NicNetwork* nics = nullptr);

  std::uint32_t nics_of(std::uint32_t host) const { return first_nic[host + 1] - first_nic[host]; }
  NicId nic_of(HostId host, PortId port) const { return NicId(first_nic[host] + port); }
  // By the node that packets know, see Channels::host_of(), and its port.
  NicId nic_at(std::uint32_t endpoint, PortId port) const {
    return nic_of_endpoint.empty() ? nic_of(HostId(endpoint), port) : NicId(nic_of_endpoint[endpoint]);
  }
  std::uint32_t endpoint_of(HostId host, NicId nic) const {
    const routing::NicNetwork* const network = picker.network();
    return network == nullptr ? std::uint32_t{host} : network->endpoint(host, nic - first_nic[host]);
  }

  std::vector<Nic> nics;
  std::vector<std::uint32_t> first_nic;         // by host, one more than there are hosts
  std::vector<std::uint32_t> message_count;     // by source host
  std::vector<std::uint32_t> connection_count;  // by source host, where messages share connections
  std::vector<std::int64_t> copy_free_at_ps;    // by host
  routing::NicPicker picker;                    // of the source's hosts
  std::vector<std::uint32_t> nic_of_endpoint;   // empty where these are the hosts
};

struct TransportCounters {
  std::uint64_t messages = 0, bytes = 0;  // delivered
  std::uint64_t retransmissions = 0, timeouts = 0, duplicates = 0;
  std::uint64_t redundant = 0;       // packets sent for the first time that nobody needed any more
  std::uint64_t given_up = 0;        // connections, after too many timeouts in a row
  std::uint64_t nacks = 0;           // that came to their senders; returned headers not among them
  std::uint64_t connections = 0;     // opened
  std::uint64_t notifications = 0;   // congestion notifications sent
  std::uint64_t credits = 0;         // credit packets sent
  std::uint64_t pauses = 0;          // that came to the sources of flows
  std::uint64_t pauses_expired = 0;  // that nothing has ended in time
  // Data packets that came after a later one of their connection, messages with such packets, and how many
  // numbers they were late at most.
  std::uint64_t out_of_order_packets = 0, out_of_order_messages = 0, max_reorder_distance = 0;
  std::uint64_t overtaken_packets = 0;  // of the first, those that had not been sent before

  TransportCounters& operator+=(const TransportCounters& other);
};

// What is the same for every connection of a run.
struct TransportSetup {
  const routing::Policy& policy;
  routing::PathSelectorMaker make_selector;  // empty: connections keep one entropy
  const congestion::Control& control;
  std::unique_ptr<congestion::SenderFactory> senders;
  std::unique_ptr<congestion::ReceiverFactory> receivers;  // null: every packet is answered by rule
  const congestion::RecoveryKind& recovery_kind;
  std::unique_ptr<congestion::RecoveryFactory> recoveries;
  // A sender stands behind its recovery in one piece of memory.
  std::size_t recovery_bytes = 0, slot_bytes = 0;
  PacketConfig config;
  congestion::RecoveryConfig recovery;
  Time longest_round_trip;  // with what passes in hosts
  Time timer_grain;         // a NIC looks at its connections' deadlines at most this often
  Time idle;                // a connection that was idle for so long starts anew

  struct Modules {
    const routing::Policy& policy;
    const routing::PlanSetup& routing;
    const congestion::Control& control;
    const Parameters& control_parameters;
    const congestion::RecoveryKind& recovery;
    const Parameters& recovery_parameters;
  };
  TransportSetup(const Modules& modules, const PacketConfig& config, Time longest_round_trip,
                 Time longest_queue);

  bool hears(congestion::Hears what) const { return control.hears & what; }
  // Are ACKs held back, for packets to come or until a receiver says so?
  bool holds_acks() const { return config.ack_every > 1 || receivers != nullptr; }
};

// What the modules of one partition's connections count, in the order of the names that they declare.
struct ConnectionSignals {
  explicit ConnectionSignals(const TransportSetup& setup)
      : senders(setup.control.signals.size()),
        recoveries(setup.recovery_kind.signals.size()),
        paths(setup.policy.path_signals.size()) {}
  std::vector<std::uint64_t> senders, recoveries, paths;
};

// One partition's host side: what all its rooms use.
struct HostSide {
  Engine& engine;
  NetworkClient& client;
  Fabric& fabric;
  Channels& channels;
  Hosts& hosts;
  const TransportSetup& setup;
  const std::uint32_t partition;
  Outbox& outbox;
  TransportCounters counters = {};
  ConnectionSignals signals = ConnectionSignals(setup);

  std::uint32_t part_of_host(std::uint32_t host) const {
    return channels.part_of(channels.topology.host(host));
  }
};

// A message as its receiver knows it, to be joined with what the sender knows by (source, number).
struct DeliveredMessage {
  results::Flow record;
  std::uint32_t number = 0;  // among its source's
};
struct SentMessage {
  std::uint32_t source = 0, number = 0;
  std::uint32_t packets = 0, retransmissions = 0;
};

}  // namespace weft::sim::packet
