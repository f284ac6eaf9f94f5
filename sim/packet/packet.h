// A packet on its way, and the pool that the packets of one partition live in.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::sim::packet {

enum PacketFlag : std::uint8_t {
  kAck = 1,        // acknowledges the data packet of the same number
  kMarked = 2,     // data: congestion experienced; ACK: the echo of it
  kDuplicate = 4,  // ACK: the receiver had the packet before
  kTrimmed = 8,    // data: only the header is left; ACK: the payload of that number was cut off
  kReturned = 16,  // data: a header on its way back to the sender
};

struct Packet {
  std::int64_t sent_ps = 0;  // when its first bit left the NIC; an ACK echoes its data packet's
  // Whom it belongs to. Data: the flow's number in the receiver's table of its sender's partition; ACK: in
  // the sender's table.
  std::uint32_t flow = 0;
  std::uint32_t number = 0;       // among the flow's packets, from 0
  std::uint32_t entropy = 0;      // what switches hash; an ACK carries its data packet's
  std::uint32_t destination = 0;  // host
  std::uint32_t source = 0;       // host
  // Among the flows of the data's source: with that host, the flow's identity for good, which tells a late
  // packet of a finished flow from those of the next one in its place.
  std::uint32_t flow_number = 0;
  // Data: bytes on the wire, header included. ACK: all packets below this number have arrived.
  std::uint32_t bytes_or_cumulative = 0;
  std::uint8_t flags = 0;
  std::uint8_t reply_nic = 0;  // data: of the receiver, for the ACK
  std::uint8_t channel = 0;    // virtual channel or class, where the queues have several

  bool ack() const { return flags & kAck; }
  bool marked() const { return flags & kMarked; }
  bool trimmed() const { return flags & kTrimmed; }
  bool returned() const { return flags & kReturned; }
  // Small, and without user bytes: an ACK or a bare header.
  bool control() const { return flags & (kAck | kTrimmed); }
};
static_assert(sizeof(Packet) == 40);

// Beside a packet while it waits in queues that are lists (NodeQueues); of no meaning elsewhere.
struct Waiting {
  std::uint32_t next = UINT32_MAX, previous = UINT32_MAX;
  std::uint16_t in_port = 0;  // of the node, where that counts what each port has brought
  std::uint16_t lane = 0;     // class or virtual channel it came in
};

// Packets by 32-bit handle. Growth moves them: references die with acquire().
class PacketPool {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t acquire() {
    if (unused_.empty()) [[unlikely]] {
      packets_.emplace_back();
      return static_cast<std::uint32_t>(packets_.size() - 1);
    }
    const std::uint32_t handle = unused_.back();
    unused_.pop_back();
    return handle;
  }
  void release(std::uint32_t handle) { unused_.push_back(handle); }
  Packet& operator[](std::uint32_t handle) { return packets_[handle]; }
  const Packet& operator[](std::uint32_t handle) const { return packets_[handle]; }
  [[gnu::always_inline]] void prefetch(std::uint32_t handle) const {
    const char* packet = reinterpret_cast<const char*>(packets_.data() + handle);
    __builtin_prefetch(packet, 1);
    __builtin_prefetch(packet + sizeof(Packet) - 1, 1);  // it may lie on two lines
  }
  // Grown when first asked for, so that networks without such queues have none.
  Waiting& waiting(std::uint32_t handle) {
    if (handle >= waiting_.size()) [[unlikely]]
      waiting_.resize(packets_.size());
    return waiting_[handle];
  }
  // Keeps a bitmap beside each ACK: which packets from sack_base(cumulative, number) on have arrived.
  void keep_sacks() { keeps_sacks_ = true; }
  std::uint64_t sack(std::uint32_t handle) const { return handle < sacks_.size() ? sacks_[handle] : 0; }
  // Nothing, unless they are kept.
  void set_sack(std::uint32_t handle, std::uint64_t bits) {
    if (!keeps_sacks_) [[likely]]
      return;
    if (handle >= sacks_.size()) sacks_.resize(packets_.size());
    sacks_[handle] = bits;
  }
  // Packets in use now, and the most there ever were.
  std::size_t used() const { return packets_.size() - unused_.size(); }
  std::size_t most_used() const { return packets_.size(); }

 private:
  std::vector<Packet> packets_;
  std::vector<std::uint32_t> unused_;
  std::vector<Waiting> waiting_;
  std::vector<std::uint64_t> sacks_;
  bool keeps_sacks_ = false;
};

}  // namespace weft::sim::packet
