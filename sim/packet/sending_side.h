// The sending side of the hosts: connections, what they have to send, and what they are told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "congestion/congestion.h"
#include "congestion/recovery.h"
#include "sim/packet/connections.h"
#include "sim/packet/hosts.h"
#include "sim/routing/routing.h"

namespace weft::sim::packet {

// One partition's. A connection sends its messages one behind the other, as packets numbered through;
// congestion, recovery and path state belong to it and live on between messages. With
// ConnectionRules::per_message each message has a connection of its own, which is over when all is
// acknowledged; else a connection rests then, and one that was idle for longer than TransportSetup::idle
// makes room for a new one. When exactly it is forgotten makes no difference, as from then on nothing that
// comes for it is heard.
class SendingSide {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit SendingSide(HostSide& side);
  ~SendingSide();
  SendingSide(const SendingSide&) = delete;
  SendingSide& operator=(const SendingSide&) = delete;

  // Takes a message to another host. Returns what its receiver has to know. Throws InputError for more than
  // 2^32 packets on one connection.
  FlowStart start(const Message& message, std::uint32_t number);
  // The message that start() returned is known to its receiver: its connection may send.
  void begin(SlotId slot);

  // Events: a packet for a sender (ACK, NACK, notification, credit, pause, resume);
  // a header of ours that a switch has sent back; and others.
  void on_answer(PacketHandle handle);
  void on_returned(PacketHandle handle);
  void nic_ready(NicId nic);
  void nic_timer(NicId nic);
  void pace(SlotId slot, std::uint16_t generation);
  void sender_timer(SlotId slot, std::uint16_t generation);
  void tell_taken(SlotId slot, std::uint16_t generation);

  // Fetches what on_answer() will change, and then what that leads to.
  [[gnu::always_inline]] void prefetch(SlotId slot) const {
    if (slot == kNoSlot) [[unlikely]]
      return;
    const auto* connection = reinterpret_cast<const char*>(&connections_[slot]);
    __builtin_prefetch(connection, 1);
    __builtin_prefetch(connection + 64, 1);
    const std::byte* state = storage(slot);
    for (std::size_t byte = 0; byte < side_.setup.slot_bytes; byte += 64) __builtin_prefetch(state + byte, 1);
    if (keeps_paths()) __builtin_prefetch(&cold_[slot].paths);
  }
  [[gnu::always_inline]] void prefetch_state(SlotId slot, std::uint32_t number) const {
    if (slot == kNoSlot) [[unlikely]]
      return;
    const Connection& connection = connections_[slot];
    __builtin_prefetch(connection.selector, 1);
    const auto& ring = cold_[slot].paths;
    const bool has_ring = keeps_paths() && !ring.empty();
    if (has_ring) __builtin_prefetch(&ring[number & (ring.size() - 1)]);
    if (connection.recovery != nullptr) {
      connection.recovery->prefetch(number);
      if (has_ring) __builtin_prefetch(&ring[connection.recovery->next_new() & (ring.size() - 1)], 1);
    }
    __builtin_prefetch(&side_.hosts.nics[connection.nic], 1);
  }

  // Connections with something unacknowledged.
  std::uint64_t live_connections() const { return live_; }
  // All messages that were acknowledged, or still are under way; empty where rows aren't kept.
  std::vector<SentMessage> sent() const;

 private:
  static constexpr std::uint32_t kSlabSlots = 256;

  struct alignas(64) Connection {
    congestion::Recovery* recovery = nullptr;   // in the slab; null: the slot is empty
    congestion::Sender* control = nullptr;      // behind it
    routing::PathSelector* selector = nullptr;  // owned by ColdConnection
    std::uint64_t window_bytes = 0;
    Bandwidth rate;                  // 0: not paced
    std::uint64_t credit_bytes = 0;  // may be sent in all
    std::uint64_t sent_bytes = 0;    // payload, in all
    std::int64_t next_send_ps = 0;
    NicId nic{0};   // whose timer it has
    NicId lane{0};  // the NIC its next packet takes
    HostId source{0}, destination{0};
    std::uint32_t number = kNone;   // among its source's connections; kNone: the slot is empty
    ReceiveSlotId receive_slot{0};  // in the receiver's table
    std::uint32_t entropy = 0;
    SlotId next_waiting = kNoSlot;
    SlotId next = kNoSlot, previous = kNoSlot;  // among its NIC's live ones, or among those that rest
    std::uint32_t first_message = kNone;        // not acknowledged to the last byte; kNone: it rests
    std::uint32_t first_end = 0;                // behind the last packet of that message
    std::uint16_t generation = 0;               // of the slot
    std::uint16_t hops = 0;                     // links of its path
    std::uint32_t target = 0;                   // what its packets go to: see Channels::host_of()
    std::uint8_t reply_nic = 0;
    bool waiting : 1 = false;     // in its NIC's list
    bool pacing : 1 = false;      // a kPace event is under way
    bool paused : 1 = false;      // a switch wants nothing for now
    std::uint32_t not_asked = 0;  // packets sent since one that asked for its ACK
  };
  struct ColdConnection {
    ConnectionKey key;
    std::uint32_t last_message = kNone;
    std::uint32_t first_untold = kNone;  // whose on_sent is still to come
    std::uint64_t given_bytes = 0;       // by all messages so far
    std::int64_t idle_since_ps = 0;
    std::int64_t pause_end_ps = 0;     // at the latest
    std::int64_t wake_ps = INT64_MAX;  // of the kSenderTimer event that counts
    std::unique_ptr<routing::PathSelector> selector;
    // Of the last transmissions, a ring by packet number; empty unless somebody wants to know.
    std::vector<routing::Path> paths;
  };
  struct OutgoingMessage {
    Message message;
    std::uint64_t end_byte = 0;        // of all the connection was given, up to its last
    std::uint32_t first = 0, end = 0;  // its packets
    std::uint32_t number = 0;          // among its source's
    std::uint32_t retransmissions = 0;
    std::uint32_t next = kNone;
  };

  // Connections: sending_side.cc.
  struct Shape {
    std::uint32_t packets = 0, last_bytes = 0;  // the others are full
  };
  Shape shape_of(std::uint64_t bytes) const;
  [[noreturn]] void refuse(std::uint64_t bytes) const;
  Channels::PathTimes path_times(const Connection& connection, NicId nic, const Shape& shape) const;
  Time ideal_time(const Connection& connection, const Shape& shape, const Channels::PathTimes& path);
  bool rides_along(const Message& message, const congestion::Recovery& recovery) const;
  // Where it opens one, also what the message takes alone from its first bit to its last.
  SlotId find_or_open(const Message& message, std::uint32_t number, const Shape& shape, Time& one_way);
  struct Opening {
    std::uint64_t identity = 0;  // what its paths are drawn by
    std::uint32_t number = 0;    // among its source's connections
    PortId port{0};              // among its source's NICs
  };
  SlotId open(const Message& message, const Opening& opening, const Shape& shape, Time& one_way);
  void close(SlotId slot);
  void forget_idle();
  void link(SlotId slot, SlotId behind, SlotId before);
  void unlink(SlotId slot, SlotId& first, SlotId* last);
  void rest(SlotId slot);
  void go_live(SlotId slot);
  SlotId new_slot();
  ReceiveSlotId new_receive_slot(std::uint32_t part, SlotId sender);
  std::uint32_t new_message(const OutgoingMessage& message);
  PortId choose_port(const Message& message, std::uint32_t entropy);
  PortId reply_port(const Message& message, PortId port) const;
  void aim(Connection& connection, const Message& message, PortId port) const;
  Bandwidth line_rate(NicId nic, HostId host) const;
  std::byte* storage(SlotId slot) const {
    return slabs_[slot / kSlabSlots].get() + slot % kSlabSlots * side_.setup.slot_bytes;
  }
  bool keeps_paths() const {
    return (side_.setup.make_selector && side_.setup.policy.selectors_want_feedback) ||
           side_.setup.hears(congestion::kLossPaths);
  }

  // Packets out: sending_turns.cc.
  bool may_send(const Connection& connection) const;
  bool asks_for_ack(Connection& connection) const;
  bool is_held(SlotId slot) { return side_.setup.policy.selectors_hold && hold(slot); }
  bool hold(SlotId slot);
  void wake(SlotId slot);  // queues the connection at its NIC if it may send
  void serve(NicId nic);   // sends one packet of the next connection
  void send_packet(SlotId slot);
  routing::Path choose_path(SlotId slot, std::uint32_t number, bool again);
  void take_route(PacketHandle handle, ChannelId nic_channel, const routing::Path& path);
  void count_again(SlotId slot, std::uint32_t number);
  void arm_timer(Nic& nic, Time deadline);
  Time look_at_pause(SlotId slot);

  // Answers in: sending_answers.cc.
  bool is_of(SlotId slot, const Packet& packet) const;
  void on_ack(SlotId slot, PacketHandle handle, const Packet& packet);
  void on_nack(SlotId slot, PacketHandle handle, const Packet& packet, std::uint32_t cumulative);
  void tell_acked(SlotId slot, PacketHandle handle, const Packet& packet,
                  const congestion::Recovery::Outcome& outcome, Time held);
  void tell_lost(SlotId slot, const congestion::Recovery::Outcome& outcome, const Packet* trimmed);
  void set_paused(SlotId slot, bool paused);
  // After each call of the control.
  void allow(SlotId slot);
  void go_on(SlotId slot);
  void retire_messages(SlotId slot);
  void tell_senders();
  std::uint64_t acknowledged_bytes(const Connection& connection) const;

  HostSide& side_;
  std::vector<Connection> connections_;  // these two by slot
  std::vector<ColdConnection> cold_;
  std::vector<std::unique_ptr<std::byte[]>> slabs_;
  std::vector<SlotId> unused_;
  ConnectionTable table_;                              // only where messages share connections
  SlotId first_idle_ = kNoSlot, last_idle_ = kNoSlot;  // longest idle first
  std::vector<OutgoingMessage> messages_;
  std::vector<std::uint32_t> unused_messages_;
  // This partition's slots in another's table of what it receives, by the receiver's partition.
  struct ReceiveSlots {
    std::vector<SlotId> senders;  // by slot: of the connection that has or had it
    std::vector<ReceiveSlotId> unused;
  };
  std::vector<ReceiveSlots> receive_slots_;
  congestion::RingPool rings_;
  std::vector<std::uint32_t> losses_;  // of the present call; filled only if paths are kept
  std::vector<std::uint32_t> lost_paths_;
  std::vector<Message> to_tell_;       // whose on_sent is due, of the present event
  std::vector<ChannelId> ideal_nics_;  // of ideal_time()
  std::vector<SentMessage> sent_;
  std::uint64_t live_ = 0;
};

}  // namespace weft::sim::packet
