// The connections of hosts that send: which messages share one, and what each has to send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "congestion/congestion.h"
#include "congestion/recovery.h"
#include "sim/packet/connection.h"
#include "sim/packet/connection_table.h"
#include "sim/packet/hosts.h"
#include "sim/packet/least_times.h"
#include "sim/routing/routing.h"

namespace weft::sim::packet {

// One partition's. A connection sends its messages one behind the other, as packets numbered through;
// congestion, recovery and path state belong to it and live on between messages. With
// ConnectionRules::per_message each message has a connection of its own, which is over when all is
// acknowledged; else a connection rests then, and one that was idle for longer than TransportSetup::idle
// makes room for a new one. When exactly it is forgotten makes no difference, as from then on nothing that
// comes for it is heard.
class Connections {
 public:
  explicit Connections(HostSide& side);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Takes a message to another host. Returns what its receiver has to know. Throws InputError for more than
  // 2^32 packets on one connection.
  FlowStart start(const Message& message, std::uint32_t number);

  Connection& operator[](SlotId slot) { return connections_[slot]; }
  const Connection& operator[](SlotId slot) const { return connections_[slot]; }
  ColdConnection& cold(SlotId slot) { return cold_[slot]; }
  const ColdConnection& cold(SlotId slot) const { return cold_[slot]; }
  OutgoingMessage& message(std::uint32_t index) { return messages_[index]; }
  const OutgoingMessage& message(std::uint32_t index) const { return messages_[index]; }
  // Its recovery and, behind it, its control: TransportSetup::slot_bytes.
  std::byte* state(SlotId slot) const {
    return slabs_[slot / kSlabSlots].get() + slot % kSlabSlots * side_.setup.slot_bytes;
  }
  // The one that has or had this slot in the table of what a partition receives.
  SlotId of_receiver(std::uint32_t partition, std::uint32_t receive_slot) const {
    return receive_slots_[partition].senders[receive_slot];
  }
  // Does somebody want to know which path each packet took (ColdConnection::paths)?
  bool keeps_paths() const {
    return (side_.setup.make_selector && side_.setup.policy.selectors_want_feedback) ||
           side_.setup.hears(congestion::kLossPaths);
  }
  // The packets that the recovery has just taken for lost; filled only if paths are kept. Whoever has told of
  // them clears it.
  std::vector<std::uint32_t>& losses() { return losses_; }

  // Takes over what the control allows: after each call of it.
  void allow(SlotId slot) {
    Connection& connection = connections_[slot];
    const congestion::Allowance& allowed = connection.control->allowed();
    connection.window_bytes = allowed.window_bytes;
    connection.rate = allowed.rate;
    connection.credit_bytes = allowed.credit_bytes;
    if (side_.setup.hears(congestion::kTimer)) [[unlikely]]
      set_timer(slot);
  }
  // Payload of the packets that are acknowledged without a gap. REQUIRES: it doesn't rest.
  std::uint64_t acknowledged_bytes(const Connection& connection) const;
  // Its oldest message is acknowledged to the last byte: goes on to the next. The caller reads what it needs
  // of it before.
  void retire_message(Connection& connection);
  // Everything is acknowledged.
  void rest(SlotId slot);
  // A closed connection is in no NIC's list any more.
  void reuse(SlotId slot) { unused_.push_back(slot); }

  // Connections with something unacknowledged.
  std::uint64_t live() const { return live_; }
  // All messages that were acknowledged, or still are under way; empty where rows aren't kept.
  std::vector<SentMessage> sent() const;

 private:
  static constexpr std::uint32_t kSlabSlots = 256;

  struct Shape {
    std::uint32_t packets = 0, last_bytes = 0;  // the others are full
  };
  Shape shape_of(std::uint64_t bytes) const;
  [[noreturn]] void refuse(std::uint64_t bytes) const;
  Channels::PathTimes path_times(const Connection& connection, NicId nic, const Shape& shape) const;
  // Are its packets' ways not the built-in rule's from one NIC?
  bool spreads() const;
  std::span<const ChannelId> nics_of(const Connection& connection);
  // How much longer the message takes alone as links are now rather than as they were built.
  Time slowed_by(const Connection& connection, std::uint64_t bytes);
  Time ideal_time(const Connection& connection, const Shape& shape, const Channels::PathTimes& path);
  bool rides_along(const Message& message, const congestion::Recovery& recovery) const;
  // Where it opens one, also what the message takes alone from its first bit to its last.
  SlotId find_or_open(const Message& message, std::uint32_t number, const Shape& shape, Time& one_way);
  struct Opening {
    std::uint64_t identity = 0;  // what its paths are drawn by
    std::uint32_t number = 0;    // among its source's connections
    PortId port{0};              // among its source's NICs
  };
  std::unique_ptr<routing::PathSelector> make_selector(const Connection& connection, std::uint64_t identity,
                                                       const RandomStream& random);
  SlotId open(const Message& message, const Opening& opening, const Shape& shape, Time& one_way);
  void close(SlotId slot);
  void forget_idle();
  void link(SlotId slot, SlotId behind, SlotId before);
  void unlink(SlotId slot, SlotId& first, SlotId* last);
  void go_live(SlotId slot);
  void set_timer(SlotId slot);
  SlotId new_slot();
  ReceiveSlotId new_receive_slot(std::uint32_t part, SlotId sender);
  std::uint32_t new_message(const OutgoingMessage& message);
  PortId choose_port(const Message& message, std::uint32_t entropy);
  PortId reply_port(const Message& message, PortId port) const;
  void aim(Connection& connection, const Message& message, PortId port) const;
  Bandwidth line_rate(NicId nic, HostId host) const;

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
  std::vector<std::uint32_t> losses_;
  std::vector<ChannelId> ideal_nics_;  // these two serve ideal_time() and slowed_by()
  LeastTimes least_times_;
  std::vector<SentMessage> sent_;
  std::uint64_t live_ = 0;
};

}  // namespace weft::sim::packet
