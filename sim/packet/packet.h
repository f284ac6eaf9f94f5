// A packet on its way, and the pool that the packets of one partition live in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "congestion/telemetry.h"
#include "sim/packet/ids.h"
#include "sim/routing/path_selector.h"
#include "sim/routing/switch_policy.h"

namespace weft::sim::packet {

enum class PacketKind : std::uint32_t {
  kData,    // payload; or the header alone, if a switch has cut that off
  kAck,     // the data packet of the same number has arrived
  kNack,    // it came without its payload, or another has to come first
  kCnp,     // congestion notification of the receiver's
  kCredit,  // the receiver allows the flow to send more
  kPause,   // a switch asks the flow's source to send no more for now
  kResume,  // … to go on
};

enum PacketFlag : std::uint8_t {
  kMarked = 1,      // data: congestion experienced; ACK: the echo of it
  kDuplicate = 2,   // ACK: the receiver had the packet before
  kTrimmed = 4,     // data: only the header is left
  kReturned = 8,    // data: a header on its way back to the sender
  kAgain = 16,      // data: it was sent before
  kAtLastHop = 32,  // data, NACK: the payload was cut off at the receiver's own link
  kAsksAck = 64,    // data: its ACK is not to be held back
};

struct Packet {
  std::int64_t sent_ps = 0;  // when its first bit left the NIC; an ACK echoes its data packet's
  // Whom it belongs to. Data, and what switches make: the flow's number in the receiver's table of its
  // sender's partition; others: in the sender's table.
  std::uint32_t flow = 0;
  std::uint32_t number = 0;       // among the flow's packets, from 0
  std::uint32_t entropy = 0;      // what switches hash; an ACK carries its data packet's
  std::uint32_t destination = 0;  // host
  std::uint32_t source = 0;       // host
  // Among the flows of the data's source: with that host, the flow's identity for good, which tells a late
  // packet of a finished flow from those of the next one in its place.
  std::uint32_t flow_number = 0;
  std::uint32_t bytes : 22 = 0;  // on the wire
  PacketKind kind : 3 = PacketKind::kData;
  std::uint32_t flags : 7 = 0;  // PacketFlag
  std::int16_t ahead = 0;       // ACK, NACK: see cumulative()
  std::uint8_t reply_nic = 0;   // data: of the receiver, for the ACK
  std::uint8_t channel = 0;     // virtual channel or class, where the queues have several

  bool data() const { return kind == PacketKind::kData; }
  bool ack() const { return kind == PacketKind::kAck; }
  // A switch made it; it names the flow as the flow's data does, by the receiver's slot.
  bool from_switch() const { return kind == PacketKind::kPause || kind == PacketKind::kResume; }
  bool marked() const { return flags & kMarked; }
  bool trimmed() const { return flags & kTrimmed; }
  bool returned() const { return flags & kReturned; }
  bool asks_ack() const { return flags & kAsksAck; }
  // Small, and without user bytes: whatever isn't data, and bare headers.
  bool control() const { return !data() || trimmed(); }
  // The host that sends the flow's data.
  std::uint32_t sender() const { return data() && !returned() ? source : destination; }
  void set(PacketFlag flag) { flags |= flag; }
  void clear(PacketFlag flag) { flags &= static_cast<std::uint32_t>(~flag) & 0x7F; }

  // ACK, NACK: all packets below this number have arrived. Kept as the distance to the packet answered; what
  // is further behind than 16 bits can say is told as 0, which is true too, and what is further ahead as
  // less.
  std::uint32_t cumulative() const {
    return ahead == kFarBehind ? 0 : number + static_cast<std::uint32_t>(std::int32_t{ahead});
  }
  void set_cumulative(std::uint32_t below) {
    const std::int64_t distance = std::int64_t{below} - number;
    ahead = distance <= kFarBehind ? kFarBehind
                                   : static_cast<std::int16_t>(std::min<std::int64_t>(distance, INT16_MAX));
  }

 private:
  static constexpr std::int16_t kFarBehind = INT16_MIN;
};
static_assert(sizeof(Packet) == 40);

// Beside an ACK that speaks of several packets, or was held back.
struct AckRecord {
  std::uint64_t sack = 0;    // which packets from sack_base(cumulative, number) on have arrived
  std::int64_t held_ps = 0;  // how long the receiver has waited with it since the newest of them came
  bool empty() const { return sack == 0 && held_ps == 0; }
};

// Something beside packets that only some runs have: none of it is kept until asked for.
template <typename Record>
class Sidecar {
 public:
  void keep() { kept_ = true; }
  bool kept() const { return kept_; }
  Record get(PacketHandle handle) const { return handle < records_.size() ? records_[handle] : Record(); }
  // In place; null if none was set for the handle since it is kept.
  Record* find(PacketHandle handle) { return handle < records_.size() ? &records_[handle] : nullptr; }
  [[gnu::always_inline]] void prefetch(PacketHandle handle) const {
    if (handle >= records_.size()) return;
    const char* const record = reinterpret_cast<const char*>(&records_[handle]);
    __builtin_prefetch(record, 1);
    if (sizeof(Record) > 8) __builtin_prefetch(record + sizeof(Record) - 1, 1);  // it may lie on two lines
  }
  // Nothing, unless it is kept.
  void set(PacketHandle handle, const Record& record) {
    if (!kept_) [[likely]]
      return;
    if (handle >= records_.size()) records_.resize(std::size_t{handle} + 1);
    records_[handle] = record;
  }

 private:
  std::vector<Record> records_;  // by handle
  bool kept_ = false;
};

// A source route on its way beside a packet, and beside its ACK, which tells the sender which one it was.
struct RouteRecord {
  routing::SourceRoute route;
  std::uint16_t next = 0;                       // position in it, of the next switch
  const routing::SourceRoute* named = nullptr;  // the selector's own: for the selector alone
};

// What switches have written into packets: a list for each, in the order of its hops. None of it is kept
// until asked for; the room for a list grows to the most hops that a packet ever took.
class TelemetryLists {
 public:
  void keep() { kept_ = true; }
  bool kept() const { return kept_; }
  // Good until the next call of add().
  std::span<const congestion::HopTelemetry> get(PacketHandle handle) const {
    if (handle >= lengths_.size()) return {};
    return {stamps_.data() + handle * room_, lengths_[handle]};
  }
  void clear(PacketHandle handle) {
    if (kept_ && handle < lengths_.size()) lengths_[handle] = 0;
  }
  // First the length; when that is there what add() will write, or get() give.
  [[gnu::always_inline]] void prefetch_length(PacketHandle handle) const {
    if (handle < lengths_.size()) __builtin_prefetch(&lengths_[handle], 1);
  }
  [[gnu::always_inline]] void prefetch_next(PacketHandle handle) const {
    if (handle >= lengths_.size()) return;
    const char* const next =
        reinterpret_cast<const char*>(stamps_.data() + handle * room_ + lengths_[handle]);
    __builtin_prefetch(next, 1);
    __builtin_prefetch(next + sizeof(congestion::HopTelemetry) - 1, 1);
  }
  [[gnu::always_inline]] void prefetch_all(PacketHandle handle) const {
    if (handle >= lengths_.size()) return;
    const char* const first = reinterpret_cast<const char*>(stamps_.data() + handle * room_);
    const std::size_t bytes = lengths_[handle] * sizeof(congestion::HopTelemetry);
    for (std::size_t byte = 0; byte < bytes; byte += 64) __builtin_prefetch(first + byte);
    if (bytes > 0) __builtin_prefetch(first + bytes - 1);
  }
  // REQUIRES: kept().
  void add(PacketHandle handle, const congestion::HopTelemetry& stamp) {
    if (handle >= lengths_.size()) {
      lengths_.resize(std::size_t{handle} + 1);
      stamps_.resize(lengths_.size() * room_);
    }
    if (lengths_[handle] == room_) widen();
    stamps_[handle * room_ + lengths_[handle]++] = stamp;
  }

 private:
  void widen() {
    std::vector<congestion::HopTelemetry> wider(stamps_.size() * 2);
    for (std::size_t list = 0; list < lengths_.size(); ++list) {
      std::copy_n(stamps_.data() + list * room_, lengths_[list], wider.data() + list * room_ * 2);
    }
    stamps_ = std::move(wider);
    room_ *= 2;
  }

  std::size_t room_ = 4;                          // hops
  std::vector<congestion::HopTelemetry> stamps_;  // room_ for each handle
  std::vector<std::uint32_t> lengths_;            // by handle
  bool kept_ = false;
};

// Packets by 32-bit handle. Growth moves them: references die with acquire().
class PacketPool {
 public:
  PacketHandle acquire() {
    if (unused_.empty()) [[unlikely]] {
      packets_.emplace_back();
      return PacketHandle(static_cast<std::uint32_t>(packets_.size() - 1));
    }
    const PacketHandle handle = unused_.back();
    unused_.pop_back();
    return handle;
  }
  void release(PacketHandle handle) { unused_.push_back(handle); }
  // Fetches what acquire() will give so many calls from now, if that is known.
  [[gnu::always_inline]] void prefetch_unused(std::size_t calls) const {
    if (calls < unused_.size()) prefetch(unused_[unused_.size() - 1 - calls]);
  }
  Packet& operator[](PacketHandle handle) { return packets_[handle]; }
  const Packet& operator[](PacketHandle handle) const { return packets_[handle]; }
  [[gnu::always_inline]] void prefetch(PacketHandle handle) const {
    const char* packet = reinterpret_cast<const char*>(packets_.data() + handle);
    __builtin_prefetch(packet, 1);
    __builtin_prefetch(packet + sizeof(Packet) - 1, 1);  // it may lie on two lines
  }
  [[gnu::always_inline]] void prefetch_ways(PacketHandle handle) const {
    notes_.prefetch(handle);
    trails_.prefetch(handle);
    routes_.prefetch(handle);
    telemetry_.prefetch_length(handle);
  }
  Sidecar<AckRecord>& acks() { return acks_; }
  const Sidecar<AckRecord>& acks() const { return acks_; }
  // Data: Sender::wanted_credit(); credit packets: what is granted in all.
  Sidecar<std::uint64_t>& credits() { return credits_; }
  const Sidecar<std::uint64_t>& credits() const { return credits_; }
  // For routing policies.
  Sidecar<routing::RouteNote>& notes() { return notes_; }
  const Sidecar<routing::RouteNote>& notes() const { return notes_; }
  Sidecar<routing::Trail>& trails() { return trails_; }
  const Sidecar<routing::Trail>& trails() const { return trails_; }
  Sidecar<RouteRecord>& routes() { return routes_; }
  const Sidecar<RouteRecord>& routes() const { return routes_; }
  TelemetryLists& telemetry() { return telemetry_; }
  const TelemetryLists& telemetry() const { return telemetry_; }
  // Is there anything beside packets that switches read or write?
  bool keeps_records() const {
    return notes_.kept() || trails_.kept() || routes_.kept() || telemetry_.kept();
  }
  // Packets in use now, and the most there ever were.
  std::size_t used() const { return packets_.size() - unused_.size(); }

 private:
  std::vector<Packet> packets_;
  std::vector<PacketHandle> unused_;
  Sidecar<AckRecord> acks_;
  Sidecar<std::uint64_t> credits_;
  Sidecar<routing::RouteNote> notes_;
  Sidecar<routing::Trail> trails_;
  Sidecar<RouteRecord> routes_;
  TelemetryLists telemetry_;
};

}  // namespace weft::sim::packet
