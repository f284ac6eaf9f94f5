// What partitions of a packet network tell each other, handed over between windows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/packet/packet.h"

namespace weft::sim::packet {

// An event at the far end of a cut link, with its packet if it has one.
struct Arrival {
  Event event;
  Packet packet;
};
static_assert(sizeof(Arrival) == 64);

// A message on a connection, told to the receiver's partition before its first packet can be there; the first
// of a connection opens it.
struct FlowStart {
  ReceiveSlotId receive_slot{0};  // in the receiver's table of the sender's partition
  SlotId send_slot{0};            // in the sender's table
  std::uint32_t flow_number = 0;  // of the connection, among those of its source
  std::uint32_t message_number = 0;
  std::uint32_t packets = 0;
  Time start, ideal;           // ideal: how long it would take alone
  std::uint32_t sender = 0;    // where the receiver's own packets go: see Channels::host_of()
  std::uint8_t reply_nic = 0;  // of the receiver, for the ACKs
  bool opens = false;
  Message message;
};

// Room in a buffer that NodeActions::return_room() has told of.
struct RoomReturn {
  ChannelId channel{0};  // that may send more
  std::uint32_t content = 0;
  Time departure;  // of the packet that had it
};

// From one partition to another, in one window.
struct Mail {
  std::vector<FlowStart> flows;
  std::vector<Arrival> arrivals;
  std::vector<RoomReturn> rooms;
  // What stands beside packets, by position in arrivals; none that is empty.
  std::vector<std::pair<std::uint32_t, AckRecord>> acks;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> credits;
  std::vector<std::pair<std::uint32_t, routing::RouteNote>> notes;
  std::vector<std::pair<std::uint32_t, routing::Trail>> trails;
  std::vector<std::pair<std::uint32_t, RouteRecord>> routes;
  std::vector<std::pair<std::uint32_t, congestion::HopTelemetry>> telemetry;  // packet by packet, in order

  void clear() {
    flows.clear();
    arrivals.clear();
    rooms.clear();
    acks.clear();
    credits.clear();
    notes.clear();
    trails.clear();
    routes.clear();
    telemetry.clear();
  }
};

// All mail of one partition. Two sets of boxes: one fills while the other is read.
class Outbox {
 public:
  explicit Outbox(std::uint32_t partitions)
      : boxes_{std::vector<Mail>(partitions), std::vector<Mail>(partitions)} {}

  // Mail goes to the boxes of this window from now on. Those of the window before the last were emptied by
  // their readers.
  void open(std::uint32_t window) {
    filling_ = window & 1;
    earliest_ps_ = INT64_MAX;
  }
  // `handle`: of the packet, for what stands beside it; kNoPacket: nothing does.
  void send(std::uint32_t to, const Event& event, const Packet& packet, const PacketPool& pool,
            PacketHandle handle) {
    Mail& mail = boxes_[filling_][to];
    const auto position = static_cast<std::uint32_t>(mail.arrivals.size());
    // Read beside answers only: one more line of memory for each packet.
    if (!packet.data()) {
      if (const AckRecord ack = pool.acks().get(handle); !ack.empty()) mail.acks.emplace_back(position, ack);
    }
    if (const std::uint64_t credit = pool.credits().get(handle); credit != 0) [[unlikely]]
      mail.credits.emplace_back(position, credit);
    if (handle != kNoPacket && pool.keeps_records()) [[unlikely]]
      send_records(mail, position, pool, handle);
    Arrival& arrival = mail.arrivals.emplace_back();
    arrival.event.time_ps = event.time_ps;  // member by member: see EventQueue::add
    arrival.event.sequence = event.sequence;
    arrival.event.source = event.source;
    arrival.event.payload = event.payload;
    arrival.event.kind = event.kind;
    arrival.event.detail = event.detail;
    arrival.packet = packet;
    __builtin_prefetch(&mail.arrivals.back() + 3, 1);  // of the next ones: many boxes fill at once
    earliest_ps_ = std::min(earliest_ps_, event.time_ps);
  }
  // `due`: when the room may be used at the other end; something that waits for it may happen there then.
  void send(std::uint32_t to, const RoomReturn& back, Time due) {
    boxes_[filling_][to].rooms.push_back(back);
    earliest_ps_ = std::min(earliest_ps_, due.ps());
  }
  void send(std::uint32_t to, const FlowStart& flow) { boxes_[filling_][to].flows.push_back(flow); }
  // What was sent to a partition in the window before `window`: that partition reads it and empties it.
  Mail& sent_before(std::uint32_t window, std::uint32_t to) { return boxes_[(window & 1) ^ 1][to]; }
  // Least time of what was sent since open(), flows aside; INT64_MAX if there was nothing.
  std::int64_t earliest_ps() const { return earliest_ps_; }

 private:
  [[gnu::noinline]] static void send_records(Mail& mail, std::uint32_t position, const PacketPool& pool,
                                             PacketHandle handle) {
    if (pool.notes().kept()) mail.notes.emplace_back(position, pool.notes().get(handle));
    if (pool.trails().kept()) mail.trails.emplace_back(position, pool.trails().get(handle));
    if (pool.routes().kept()) mail.routes.emplace_back(position, pool.routes().get(handle));
    for (const congestion::HopTelemetry& stamp : pool.telemetry().get(handle)) {
      mail.telemetry.emplace_back(position, stamp);
    }
  }

  std::array<std::vector<Mail>, 2> boxes_;
  std::uint32_t filling_ = 1;  // before window 0
  std::int64_t earliest_ps_ = INT64_MAX;
};

}  // namespace weft::sim::packet
