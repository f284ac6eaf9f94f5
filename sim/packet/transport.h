// Hosts' ends of the packet network: flows, their windows and acknowledgements, and the NICs that send them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "congestion/arrivals.h"
#include "congestion/congestion.h"
#include "congestion/recovery.h"
#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/packet/channels.h"
#include "sim/packet/fabric.h"
#include "sim/packet/mailbox.h"
#include "sim/results/records.h"
#include "sim/routing/routing.h"
#include "topologies/graph/topology.h"

namespace weft::sim::packet {

// Which of a host's links, its NICs, a message takes, and which one its ACKs take.
enum class NicChoice : std::uint8_t {
  kGiven,        // the ones the message asks for
  kRoundRobin,   // one after the other
  kHash,         // drawn for each message
  kLeastLoaded,  // the one whose messages have the fewest packets in all
  kSpray,        // packet after packet over all of them; an ACK goes back through the NIC its packet came to
};

// Sizes and host-side settings. Defaults are those of the module's parameters (packet_module()).
struct PacketConfig {
  std::uint32_t mtu_bytes = 4096;   // payload of a full packet
  std::uint32_t header_bytes = 64;  // added to every data packet on the wire
  std::uint32_t ack_bytes = 64;     // size of an ACK on the wire
  Time min_timeout = Time::us(100);
  Bandwidth local_bandwidth = Bandwidth::gbps(800);  // copy between processes of one host
  Time local_latency = Time::ns(200);
  Time receive_delay;  // in the NIC a packet arrives at, data or ACK
  std::uint32_t ack_every = 1;
  Time ack_delay = Time::us(5);  // no ACK waits longer for more packets to acknowledge
  NicChoice nic_choice = NicChoice::kGiven;
  double timeout_jitter = 0.1;  // congestion::RecoveryConfig::jitter
  bool cut_through = false;
  Time reconvergence = Time::us(1000);
  bool record_flows = true;  // keep a row per message (64 bytes each)
  ConnectionRules connections;
};

struct TransportCounters {
  std::uint64_t messages = 0, bytes = 0;  // delivered
  std::uint64_t retransmissions = 0, timeouts = 0, duplicates = 0;
  std::uint64_t given_up = 0;  // messages, after too many timeouts in a row
  std::uint64_t nacks = 0;     // that came to their senders; returned headers not among them

  TransportCounters& operator+=(const TransportCounters& other);
};

// What is the same for every flow of a run.
struct TransportSetup {
  const routing::Policy& policy;
  routing::PathSelectorMaker make_selector;  // empty: flows keep one entropy
  std::unique_ptr<congestion::SenderFactory> senders;
  std::size_t sender_bytes = 0;
  PacketConfig config;
  congestion::RecoveryConfig recovery;
  Time timer_grain;  // a NIC looks at its flows' deadlines at most this often

  TransportSetup(const routing::Policy& policy, const Parameters& routing_parameters,
                 std::unique_ptr<congestion::SenderFactory> senders, const PacketConfig& config,
                 Time longest_round_trip, Time longest_queue);
};

struct alignas(64) Nic {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t channel = 0;
  EntityId entity = 0;
  std::uint32_t first_waiting = kNone, last_waiting = kNone;  // flows that may send, in their turn
  std::uint32_t first_live = kNone;                           // all flows with something unacknowledged
  bool busy = false;                                          // a kNicReady event is under way
  bool ack_timer = false;                                     // a kAckTimer event is under way
  std::int64_t timer_ps = INT64_MAX;                          // of the kNicTimer event that counts
  std::int64_t last_timer_ps = INT64_MIN / 2;
  // Flows whose ACKs are held back, in the order of their deadlines (Transport::FlowKey).
  std::uint64_t first_held = UINT64_MAX, last_held = UINT64_MAX;
  std::uint64_t load_packets = 0;  // of all messages it has that aren't acknowledged
};
static_assert(sizeof(Nic) == 64);

// The hosts of all partitions. Each record is touched by its host's partition only.
struct Hosts {
  Hosts(std::span<Engine* const> engines, const topologies::Topology& topology);

  std::vector<Nic> nics;
  std::vector<std::uint32_t> first_nic;       // by host, one more than there are hosts
  std::vector<std::uint32_t> flow_count;      // by source host
  std::vector<std::int64_t> copy_free_at_ps;  // by host
  std::vector<std::uint32_t> turn;            // by host: messages that took the next NIC
};

// One partition's hosts. A message is a flow with its own congestion state. Its sender's NIC serves the flows
// that may send round robin, one packet a turn; ACKs go out ahead of packets that no NIC has taken yet.
class Transport {
 public:
  Transport(Engine& engine, NetworkClient& client, Fabric& fabric, Channels& channels, Hosts& hosts,
            const TransportSetup& setup, std::uint32_t partition, Outbox& outbox);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  void start(const Message& message);
  // Events of the host side.
  void packet_at_host(std::uint32_t channel, std::uint32_t handle);
  void received(std::uint32_t handle, std::uint32_t port);  // after receive_delay
  void ack_timer(std::uint32_t nic);
  // A flow of another partition to a host of this one.
  void expect(std::uint32_t from_partition, const FlowStart& flow);
  // Fetches the flow that packet_at_host() will change.
  [[gnu::always_inline]] void prefetch_flow(std::uint32_t handle) const {
    const Packet& packet = fabric_.packets()[handle];
    if (packet.ack()) {
      const auto* flow = reinterpret_cast<const char*>(&send_[packet.flow]);
      for (std::size_t byte = 0; byte < sizeof(SendFlow); byte += 64) __builtin_prefetch(flow + byte, 1);
    } else if (!packet.returned()) [[likely]] {
      __builtin_prefetch(&table_of(packet).flows[packet.flow], 1);
    }
  }
  // Fetches what the flow leads to.
  [[gnu::always_inline]] void prefetch_state(std::uint32_t handle) const {
    const Packet& packet = fabric_.packets()[handle];
    if (packet.ack()) {
      if (packet.flow == kNone) [[unlikely]]
        return;
      const SendFlow& flow = send_[packet.flow];
      flow.recovery.prefetch(packet.number);
      __builtin_prefetch(flow.control, 1);
      __builtin_prefetch(flow.selector, 1);
      __builtin_prefetch(&hosts_.nics[flow.nic], 1);
    } else if (!packet.returned()) [[likely]] {
      const ReceiveFlow& flow = table_of(packet).flows[packet.flow];
      flow.arrivals.prefetch(packet.number);
      fabric_.prefetch_queue(flow.reply_channel);
    }
  }
  void nic_ready(std::uint32_t nic);
  void nic_timer(std::uint32_t nic);
  void pace(std::uint32_t slot, std::uint16_t generation);
  void local_copy_done(std::uint32_t slot);

  const TransportCounters& counters() const { return counters_; }
  std::uint64_t open_flows() const { return open_flows_; }

  // What the receiver and the sender know of a flow in the end, to be joined by (source, number).
  struct Delivered {
    results::Flow record;
    std::uint32_t number = 0;  // among its source's
  };
  struct Sent {
    std::uint32_t source = 0, number = 0;
    std::uint32_t packets = 0, retransmissions = 0;
  };
  const std::vector<Delivered>& delivered() const { return delivered_; }
  const results::FlowStatistics& statistics() const { return statistics_; }
  // All flows' that were acknowledged, or still are under way.
  std::vector<Sent> sent() const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::uint32_t kSlabFlows = 256;

  struct alignas(64) SendFlow {
    congestion::Recovery recovery;
    congestion::Sender* control = nullptr;      // in the slab
    routing::PathSelector* selector = nullptr;  // owned by ColdFlow
    std::uint64_t window_bytes = 0;
    Bandwidth rate;  // 0: not paced
    std::int64_t next_send_ps = 0;
    std::uint32_t nic = 0;   // whose timer it has
    std::uint32_t lane = 0;  // the NIC its next packet takes
    std::uint32_t source = 0, destination = 0;
    std::uint32_t number = kNone;    // among its source's flows; kNone: the slot is empty
    std::uint32_t receive_slot = 0;  // in the receiver's table
    std::uint32_t entropy = 0;
    std::uint32_t sent_packets = 0;
    std::uint32_t next_waiting = kNone;
    std::uint32_t next_live = kNone, previous_live = kNone;
    std::uint16_t generation = 0;  // of the slot
    std::uint8_t reply_nic = 0;
    bool waiting = false;  // in its NIC's list
    bool pacing = false;   // a kPace event is under way
  };
  struct alignas(64) ReceiveFlow {
    congestion::Arrivals arrivals;
    std::uint32_t packets = 0;
    std::uint32_t marked = 0;
    std::uint32_t source = 0;  // with the number, tells a late packet of the slot's last flow
    std::uint32_t number = 0;
    std::uint32_t send_slot = 0;
    std::uint32_t reply_channel = 0;  // of the NIC that sends the ACKs
  };
  // What only reports and callbacks need.
  struct ColdReceive {
    Message message;
    Time start, ideal;
  };
  struct ColdSend {
    Message message;
    std::uint32_t retransmissions = 0;
    std::unique_ptr<routing::PathSelector> selector;
    // Of the last transmissions, a ring by packet number; empty unless the policy wants feedback.
    std::vector<std::uint32_t> entropies;
  };
  // A receiver's slot, with the sender's partition above.
  using FlowKey = std::uint64_t;
  static constexpr FlowKey kNoFlow = UINT64_MAX;
  // Packets of a flow that have arrived and await their common ACK. All have the same mark, or none.
  struct HeldAck {
    std::uint32_t handle = kNone;  // of the newest of them, which will become the ACK
    std::uint32_t packets = 0;     // 0: none is held
    std::uint32_t lowest = 0, highest = 0;
    std::uint32_t nic = 0;            // whose timer it has
    std::uint32_t reply_channel = 0;  // that it will take
    bool marked = false;              // the flow's newest packet: DCTCP.CE of RFC 8257 §3.2
    std::int64_t due_ps = 0;
    FlowKey previous = kNoFlow, next = kNoFlow;  // among its NIC's
  };
  // The flows that come from one partition, by the slot that partition has given them.
  struct ReceiveTable {
    std::vector<ReceiveFlow> flows;
    std::vector<ColdReceive> cold;
    std::vector<HeldAck> held;  // only where ACKs are held back
  };
  // This partition's slots in another's table.
  struct ReceiveSlots {
    std::vector<std::uint32_t> senders;  // by slot: of the flow that has or had it
    std::vector<std::uint32_t> unused;
  };
  struct LocalMessage {
    Message message;
    Time start;
    std::uint32_t number = 0;
  };
  std::uint32_t new_slot();
  void start_local(const Message& message, std::uint32_t number);
  // Receiver. `way_back`: the channel of the NIC that the packet came to.
  void receive(std::uint32_t handle, std::uint32_t way_back);
  void on_data(std::uint32_t handle, std::uint32_t way_back);
  void turn_round(Packet& packet, const ReceiveFlow& receiver) const;
  void hold_or_acknowledge(FlowKey key, std::uint32_t reply_channel, std::uint32_t handle, bool fresh);
  void part_from_held(FlowKey key, const Packet& packet);
  void acknowledge_held(FlowKey key);
  void unlink_held(FlowKey key);
  void complete(const ReceiveTable& table, std::uint32_t slot);
  HeldAck& held_of(FlowKey key) { return receive_[key >> 32].held[static_cast<std::uint32_t>(key)]; }
  bool holds_acks() const { return setup_.config.ack_every > 1; }
  // Sender.
  void on_ack(std::uint32_t handle);
  void on_returned(std::uint32_t handle);
  void go_on(std::uint32_t slot);
  void finish(std::uint32_t slot);
  std::uint32_t nics_of(std::uint32_t host) const {
    return hosts_.first_nic[host + 1] - hosts_.first_nic[host];
  }
  std::uint32_t choose_nic(const Message& message, std::uint32_t entropy);
  // What a flow may send at, over one NIC or all.
  Bandwidth line_rate(std::uint32_t nic, std::uint32_t host) const;
  static bool is_of(const SendFlow& flow, const Packet& packet);
  void on_nack(std::uint32_t slot, const Packet& packet, std::uint32_t cumulative);
  void tell_acked(SendFlow& flow, const Packet& packet, const congestion::Recovery::Outcome& outcome) {
    if (outcome.acked_packets == 0) return;
    const Time now = engine_.now();
    allow(flow, flow.control->on_ack({.now = now,
                                      .rtt = now - Time::ps(packet.sent_ps),
                                      .bytes = outcome.acked_bytes,
                                      .in_flight = flow.recovery.in_flight_bytes(),
                                      .ecn_marked = packet.marked()}));
  }
  void record(const Message& message, const results::Flow& flow, std::uint32_t number) {
    if (!message.control) statistics_.add(flow);
    if (setup_.config.record_flows) delivered_.push_back({flow, number});
  }
  // The flow a data packet belongs to, or null if that is over.
  ReceiveFlow* receiver_of(const Packet& packet);
  std::uint32_t part_of_host(std::uint32_t host) const {
    return channels_.part_of(channels_.topology.host(host));
  }
  ReceiveTable& table_of(const Packet& packet) {
    return receive_[receive_.size() == 1 ? 0 : part_of_host(packet.source)];
  }
  const ReceiveTable& table_of(const Packet& packet) const {
    return receive_[receive_.size() == 1 ? 0 : part_of_host(packet.source)];
  }

  bool may_send(const SendFlow& flow) const;
  void wake(std::uint32_t slot);  // queues the flow at its NIC if it may send
  void serve(std::uint32_t nic);  // sends one packet of the next flow
  void send_packet(std::uint32_t slot);
  std::uint32_t choose_entropy(std::uint32_t slot, std::uint32_t number, bool again);
  void arm_timer(Nic& nic, Time deadline);
  void allow(SendFlow& flow, const congestion::Allowance& allowance) {
    flow.window_bytes = allowance.window_bytes;
    flow.rate = allowance.rate;
  }
  std::byte* storage(std::uint32_t slot) {
    return slabs_[slot / kSlabFlows].get() + slot % kSlabFlows * setup_.sender_bytes;
  }

  Engine& engine_;
  NetworkClient& client_;
  Fabric& fabric_;
  Channels& channels_;
  Hosts& hosts_;
  const TransportSetup& setup_;
  const std::uint32_t partition_;
  Outbox& outbox_;

  std::vector<SendFlow> send_;  // these two by slot
  std::vector<ColdSend> cold_;
  std::vector<std::unique_ptr<std::byte[]>> slabs_;  // of senders
  std::vector<std::uint32_t> unused_;                // slots
  std::vector<ReceiveSlots> receive_slots_;          // by the receiver's partition
  std::vector<ReceiveTable> receive_;                // by the sender's partition
  std::vector<LocalMessage> local_;
  std::vector<std::uint32_t> unused_local_;
  std::vector<Delivered> delivered_;
  results::FlowStatistics statistics_;
  std::vector<Sent> sent_;
  TransportCounters counters_;
  std::uint64_t open_flows_ = 0;
};

}  // namespace weft::sim::packet
