// Queue disciplines that decide packet by packet what leaves next: where first in, first out with a known
// departure (queues.h) is not enough. A hop costs two events there: the arrival, and the end of the
// transmission.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/packet/packet.h"
#include "sim/units/quantity.h"
#include "sim/units/random.h"

namespace weft::sim::packet {

// One port of a node: a channel that leaves it, and the one that comes back over the same cable.
struct PortSite {
  Bandwidth rate;
  Time latency;          // of the cable, one way
  bool to_host = false;  // a host is at its other end
  Time pipeline;         // of the switch at its other end
};

// The node whose packets an object holds.
struct NodeSite {
  bool is_host = false;             // a host's NICs, else a switch
  std::span<const PortSite> ports;  // in the order of Topology::out_channels
  Time pipeline;                    // of a switch: packets that arrive pass it first
  Time rtt;                         // the network's longest round trip without queueing
  std::uint32_t packet_bytes = 0;   // of a full packet on the wire
  std::uint32_t control_bytes = 0;  // of an ACK or a bare header
  RandomStream random;
};

// What a discipline may ask of its node. Handles are those of PacketPool.
class NodeActions {
 public:
  virtual ~NodeActions() = default;
  virtual Time now() const = 0;
  virtual PacketPool& packets() = 0;
  virtual std::uint32_t bytes(std::uint32_t packet) const = 0;  // on the wire, as it is now
  // Ends the packet, which did not fit at `port`.
  virtual void drop(std::uint32_t port, std::uint32_t packet) = 0;
  // Sets the mark of congestion, and counts it once per packet. ACKs and headers are left as they are.
  virtual void mark(std::uint32_t port, std::uint32_t packet) = 0;
  // Cuts the payload off: the packet is control_bytes long from now on.
  virtual void trim(std::uint32_t port, std::uint32_t packet) = 0;
  // Turns a header round: it is sent to where it came from. REQUIRES: it is trimmed, and was not turned
  // before.
  virtual void send_back(std::uint32_t port, std::uint32_t packet) = 0;
  // Tells the node at the other end of the port's cable: NodeQueues::frame() is called there one cable
  // latency and the transmission of control_bytes later. Such frames pass by all packets and take no room on
  // the wire.
  virtual void send_frame(std::uint32_t port, std::uint32_t content) = 0;
  // The port may be able to send now: next() is asked, unless it is sending.
  virtual void wake(std::uint32_t port) = 0;
};

// The queues of one node, and its buffers. Nothing but this node may be looked at.
class NodeQueues {
 public:
  static constexpr std::uint32_t kNone = PacketPool::kNone;
  static constexpr std::uint32_t kHere = UINT32_MAX;  // an `in` port: the packet comes from this host

  virtual ~NodeQueues() = default;
  // A packet has arrived through port `in` and is to leave through `out`: it is kept, dropped, trimmed ….
  // Afterwards `out` is asked for its next(), unless it is sending.
  virtual void arrive(std::uint32_t in, std::uint32_t out, std::uint32_t packet, NodeActions& node) = 0;
  // The link of `out` is free: the packet that goes on the wire now, or kNone.
  virtual std::uint32_t next(std::uint32_t out, NodeActions& node) = 0;
  // The packet that next() gave last has left `out` to its last bit; its handle means nothing any more.
  virtual void departed(std::uint32_t /*out*/, NodeActions& /*node*/) {}
  // The packet that next() gave last will not arrive: the link of `out` has just lost it. departed() is still
  // to come.
  virtual void lost_when_sent(std::uint32_t /*out*/, std::uint32_t /*packet*/, NodeActions& /*node*/) {}
  // A packet that should have arrived through `in` was lost, as the link was cut while it was on its way.
  virtual void lost_on_wire(std::uint32_t /*in*/, std::uint32_t /*packet*/, NodeActions& /*node*/) {}
  // What the other end of the port's cable has sent with send_frame().
  virtual void frame(std::uint32_t /*port*/, std::uint32_t /*content*/, NodeActions& /*node*/) {}

  // Bytes that wait at `out`, without the packet being sent.
  virtual std::uint64_t backlog_bytes(std::uint32_t out) const = 0;
  // The most that can wait at `out` for the packets of one flow: timeouts are longer than these take.
  virtual std::uint64_t capacity_bytes(std::uint32_t out) const = 0;
  // Of a host: may its flows hand over a data packet for `out`? So a packet leaves its flow when it can go.
  virtual bool takes_data(std::uint32_t out) const { return backlog_bytes(out) == 0; }
  // How often things happened that have a name of their own, in a fixed order; summed over all nodes. Of a
  // name that begins with "most_" the greatest is taken.
  virtual std::vector<std::pair<std::string, std::uint64_t>> signals() const { return {}; }

  // For finding deadlocks, where packets are held back until the next node has room. A lane is a class or
  // virtual channel.
  struct Lane {
    std::uint32_t port = 0, lane = 0;
    auto operator<=>(const Lane&) const = default;
  };
  // Adds the lanes of ports that have packets, send nothing now, and may not.
  virtual void held_back(std::vector<Lane>& /*out*/) const {}
  // Adds the lanes where packets that came through this one wait, or are being sent: as these leave, it gets
  // room.
  virtual void filled_by(Lane /*in*/, std::vector<Lane>& /*out*/) const {}
};

// First in, first out, through the pool's links: no memory of its own.
class PacketFifo {
 public:
  bool empty() const { return first_ == PacketPool::kNone; }
  std::uint32_t front() const { return first_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint32_t packets() const { return packets_; }

  void push(PacketPool& pool, std::uint32_t packet, std::uint32_t bytes) {
    pool.waiting(packet).next = PacketPool::kNone;
    pool.waiting(packet).previous = last_;
    (empty() ? first_ : pool.waiting(last_).next) = packet;
    last_ = packet;
    bytes_ += bytes;
    ++packets_;
  }
  // Takes the oldest. REQUIRES: !empty(); `bytes` as when it was pushed, here and below.
  std::uint32_t pop(PacketPool& pool, std::uint32_t bytes) {
    const std::uint32_t packet = first_;
    first_ = pool.waiting(packet).next;
    (first_ == PacketPool::kNone ? last_ : pool.waiting(first_).previous) = PacketPool::kNone;
    bytes_ -= bytes;
    --packets_;
    return packet;
  }
  std::uint32_t back() const { return last_; }
  // Takes the newest.
  std::uint32_t pop_back(PacketPool& pool, std::uint32_t bytes) {
    const std::uint32_t packet = last_;
    last_ = pool.waiting(packet).previous;
    (last_ == PacketPool::kNone ? first_ : pool.waiting(last_).next) = PacketPool::kNone;
    bytes_ -= bytes;
    --packets_;
    return packet;
  }

 private:
  std::uint32_t first_ = PacketPool::kNone, last_ = PacketPool::kNone;
  std::uint32_t packets_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace weft::sim::packet
