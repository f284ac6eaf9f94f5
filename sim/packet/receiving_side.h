// The receiving side of the hosts: what has arrived, and the answers that leave for it.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "congestion/arrivals.h"
#include "congestion/receiver.h"
#include "congestion/recovery.h"
#include "sim/packet/hosts.h"
#include "sim/results/flow_statistics.h"

namespace weft::sim::packet {

// One partition's. Messages of a connection are delivered in the order they were sent in.
class ReceivingSide {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  // What each packet touches.
  struct alignas(64) Connection {
    congestion::Arrivals arrivals;
    std::uint32_t source = 0;  // with the number, tells a late packet of the slot's last connection
    std::uint32_t number = kNone;
    SlotId send_slot{0};
    ChannelId reply_channel{0};     // of the NIC that sends the answers
    std::uint32_t message_end = 0;  // behind the last packet of the oldest message that isn't complete
    std::uint32_t first_message = kNone;
  };
  static_assert(sizeof(Connection) == 64);

  explicit ReceivingSide(HostSide& side);
  ~ReceivingSide();

  // A message to a host of this partition, before its first packet.
  void expect(std::uint32_t from_partition, const FlowStart& flow);
  // A data packet, or the header of one. `way_back`: the channel of the NIC that it came to.
  void on_data(PacketHandle handle, ChannelId way_back);
  void ack_timer(NicId nic);
  void receiver_timer(NicId nic);
  // A message is there: counts and records it.
  void record(const Message& message, const DeliveredMessage& delivered);

  // Where a data packet belongs.
  const Connection& connection_of(const Packet& packet) const {
    return table_of(packet).connections[packet.flow];
  }
  // Fetches what is noted of the message that the connection waits for: where it begins, and all behind that.
  [[gnu::always_inline]] void prefetch_message(const Connection& connection) const {
    if (connection.first_message == kNone) return;
    const IncomingMessage* const message = messages_.data() + connection.first_message;
    __builtin_prefetch(&message->first, 1);
    __builtin_prefetch(reinterpret_cast<const char*>(message + 1) - 1, 1);  // it may lie on two lines
  }

  // What the NICs' receivers have counted.
  void add_signals(Signals& sum) const;
  const std::vector<DeliveredMessage>& delivered() const { return delivered_; }
  void add_to(results::FlowStatistics& statistics) const {
    statistics.merge(statistics_);
    statistics.add_hosts(tally_);
  }

 private:
  struct ColdConnection {
    std::uint32_t last_message = kNone;
    std::uint32_t end = 0;  // behind the last packet of all messages so far
    NicId nic{0};
    std::uint32_t sender = 0;  // FlowStart::sender
    std::unique_ptr<congestion::Reassembly> reassembly;
  };
  // What its NIC's receiver has to do with it.
  struct Received {
    std::int64_t last_ps = 0;         // when a packet that was missing came
    std::uint64_t granted_bytes = 0;  // in all
    std::uint32_t word = 0;           // the receiver's own
  };
  struct IncomingMessage {
    Message message;
    Time start, ideal;
    std::uint32_t first = 0, end = 0;  // its packets
    std::uint32_t number = 0;          // among its source's
    std::uint32_t marked = 0;          // its packets that came with a mark
    std::uint32_t out_of_order = 0, distance = 0;
    std::uint32_t next = kNone;
  };
  // A receiver's slot, with the sender's partition above.
  using Key = std::uint64_t;
  static constexpr Key kNoConnection = UINT64_MAX;
  // Packets of a connection that have arrived and await their common ACK. All have the same mark, or none.
  struct HeldAck {
    PacketHandle handle = kNoPacket;  // of the newest of them, which will become the ACK
    std::uint32_t packets = 0;        // 0: none is held
    std::uint32_t lowest = 0, highest = 0;
    NicId nic{0};                // whose timer it has
    ChannelId reply_channel{0};  // that it will take
    bool marked = false;         // the connection's newest packet: DCTCP.CE of RFC 8257 §3.2
    std::int64_t newest_ps = 0;  // when that came
    std::int64_t due_ps = 0;
    Key previous = kNoConnection, next = kNoConnection;  // among its NIC's
  };
  // The connections that come from one partition, by the slot that partition has given them.
  struct Table {
    std::vector<Connection> connections;
    std::vector<ColdConnection> cold;
    std::vector<HeldAck> held;       // only where ACKs are held back
    std::vector<Received> received;  // only where there are receivers
  };
  // What a receiver of a NIC may do.
  class Actions;

  const Table& table_of(const Packet& packet) const {
    return tables_[tables_.size() == 1 ? 0 : side_.part_of_host(packet.source)];
  }
  Connection& of(Key key) { return tables_[key >> 32].connections[static_cast<std::uint32_t>(key)]; }
  ColdConnection& cold_of(Key key) { return tables_[key >> 32].cold[static_cast<std::uint32_t>(key)]; }
  Received& received_of(Key key) { return tables_[key >> 32].received[static_cast<std::uint32_t>(key)]; }
  HeldAck& held_of(Key key) { return tables_[key >> 32].held[static_cast<std::uint32_t>(key)]; }
  congestion::Reassembly::Verdict take(Table& table, const Packet& packet);
  bool holds_acks() const { return side_.setup.holds_acks(); }

  void open(Key key, const FlowStart& start);
  congestion::Receiver* receiver_of(NicId nic);
  void answer_late(PacketHandle handle, ChannelId way_back);
  void count_needless(const Packet& packet);
  void turn_round(Packet& packet, PacketKind kind, const Connection& connection) const;
  void on_trimmed(Key key, PacketHandle handle, ChannelId reply);
  void note_order(Connection& connection, const Packet& packet);
  IncomingMessage* message_with(const Connection& connection, std::uint32_t number);
  congestion::AckTime ask_receiver(Key key, PacketHandle handle);
  bool is_over(Key key) const;
  bool is_redundant(const Connection& connection, const Packet& packet);
  void hold_or_acknowledge(Key key, ChannelId reply, PacketHandle handle, bool fresh,
                           congestion::AckTime when);
  void start_clock(Key key, HeldAck& held);
  void part_from_held(Key key, const Packet& packet);
  void acknowledge_held(Key key);
  void unlink_held(Key key);
  void send_to_sender(Key key, PacketKind kind, std::uint64_t credit);
  void complete_messages(Key key);

  HostSide& side_;
  std::vector<Table> tables_;  // by the sender's partition
  std::vector<IncomingMessage> messages_;
  std::vector<std::uint32_t> unused_messages_;
  struct NicReceiver {
    std::unique_ptr<congestion::Receiver> receiver;
    std::int64_t timer_ps = INT64_MAX;
  };
  std::vector<NicReceiver> receivers_;                      // by NIC; made when first asked for
  std::unordered_map<congestion::ConnectionId, Key> keys_;  // only where there are receivers
  std::vector<DeliveredMessage> delivered_;
  results::FlowStatistics statistics_;  // without hosts: those are in the tally
  results::HostTally tally_;
};

}  // namespace weft::sim::packet
