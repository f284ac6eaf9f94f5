// A packet on its way, and the pool all packets live in.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::sim::packet {

enum PacketFlag : std::uint8_t {
  kAck = 1,        // acknowledges the data packet of the same number
  kMarked = 2,     // data: congestion experienced; ACK: the echo of it
  kDuplicate = 4,  // ACK: the receiver had the packet before
};

// 32 bytes: two to a cache line.
struct Packet {
  std::int64_t sent_ps = 0;       // when its first bit left the NIC; an ACK echoes its data packet's
  std::uint32_t flow = 0;         // slot of its flow
  std::uint32_t number = 0;       // among the flow's packets, from 0
  std::uint32_t entropy = 0;      // what switches hash; an ACK carries its data packet's
  std::uint32_t destination = 0;  // host
  // Data: bytes on the wire, header included. ACK: all packets below this number have arrived.
  std::uint32_t bytes_or_cumulative = 0;
  std::uint16_t generation = 0;  // tells a late packet of a finished flow from those of the slot's next one
  std::uint8_t flags = 0;

  bool ack() const { return flags & kAck; }
  bool marked() const { return flags & kMarked; }
};
static_assert(sizeof(Packet) == 32);

// Packets by 32-bit handle. Growth moves them: references die with acquire().
class PacketPool {
 public:
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
    __builtin_prefetch(packets_.data() + handle, 1);
  }
  // Packets in use now, and the most there ever were.
  std::size_t used() const { return packets_.size() - unused_.size(); }
  std::size_t most_used() const { return packets_.size(); }

 private:
  std::vector<Packet> packets_;
  std::vector<std::uint32_t> unused_;
};

}  // namespace weft::sim::packet
