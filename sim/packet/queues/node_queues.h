// Queue disciplines that decide packet by packet what leaves next: where first in, first out with a known
// departure (queues.h) is not enough.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/packet/packet.h"
#include "sim/packet/queues/room_returns.h"
#include "sim/units/quantity.h"
#include "sim/units/random.h"
#include "sim/units/signals.h"

namespace weft::sim::packet {

// One port of a node: a channel that leaves it, and the one that comes back over the same cable.
struct PortSite {
  Bandwidth rate;
  Time latency;                 // of the cable, one way
  bool to_host = false;         // a host is at its other end
  bool to_node = false;         // or what belongs to a node of several hosts, as here NodeSite::in_node
  bool crosses_groups = false;  // a switch of another group is there (topologies::Node::group)
  Time pipeline;                // of the switch at its other end, and of this node before its first bit
  Time send_delay;              // of a host at its other end, before the first bit of what comes from there
};

// Inside a node of several hosts what waits is in their memory: for their NICs, or for a link that gives room
// back (NVLink). As much as nothing fills: nothing is dropped, trimmed, marked or held back there.
inline constexpr std::uint64_t kNodeMemory = (std::uint64_t{1} << 30) + 1;  // no capacity that is written
// As much of it counts for timeouts, which are longer than several full queues take. (Where 8 GPUs share a
// NIC of 100 Gb/s for an all-to-all of 64 GPUs, 50 MB wait for it.)
inline constexpr std::uint64_t kNodeQueue = std::uint64_t{8} << 20;

// The node whose packets an object holds.
struct NodeSite {
  bool is_host = false;             // a host's NICs, else a switch
  bool in_node = false;             // an accelerator or a switch inside a node, see kNodeMemory
  std::span<const PortSite> ports;  // in the order of Topology::out_channels
  Time pipeline;                    // of a switch: packets that arrive pass it first
  Time rtt;                         // the longest without queueing, with what passes in hosts
  std::uint32_t packet_bytes = 0;   // of a full packet on the wire
  std::uint32_t control_bytes = 0;  // of an ACK or a bare header
  RandomStream random;
};

// What a discipline may ask of its node. Handles are those of PacketPool.
class NodeActions {
 public:
  explicit NodeActions(PacketPool& pool) : pool_(pool) {}
  virtual ~NodeActions() = default;
  // The moment that is being worked out. It may lie before the engine's (see NodeQueues), never after.
  Time now() const { return now_; }
  PacketPool& packets() { return pool_; }
  std::uint32_t bytes(PacketHandle packet) const { return pool_[packet].bytes; }  // on the wire, as of now
  // Ends the packet, which did not fit at `port`.
  virtual void drop(PortId port, PacketHandle packet) = 0;
  // Sets the mark of congestion, and counts it once per packet. ACKs and headers are left as they are.
  virtual void mark(PortId port, PacketHandle packet) = 0;
  // Cuts the payload off: the packet is control_bytes long from now on.
  virtual void trim(PortId port, PacketHandle packet) = 0;
  // Turns a header round: it is sent to where it came from. REQUIRES: it is trimmed, and was not turned
  // before.
  virtual void send_back(PortId port, PacketHandle packet) = 0;
  // Tells the node at the other end of the port's cable: NodeQueues::frame() is called there one cable
  // latency and the transmission of control_bytes later. Such frames pass by all packets and take no room on
  // the wire.
  virtual void send_frame(PortId port, std::uint32_t content) = 0;
  // Tells the node at the other end of the port's cable of room in a buffer that the packet now being sent
  // through `out` leaves at `when`, in or after now(). To be called unless the other end reads it
  // (NodeQueues::room_to_read); it may be read in another partition, without a frame.
  virtual void return_room(PortId port, PortId out, std::uint32_t content, Time when) = 0;
  // NodeQueues::look() is to be called for the port at `when`, after now().
  virtual void look_at(PortId port, Time when) = 0;
  // The port may be able to send now: next() is asked, unless it is sending.
  virtual void wake(PortId port) = 0;
  // Works out all that the node's other ports have done until now().
  virtual void settle() = 0;
  // From now on (until this is called with false) what waits at this node starts at its time.
  virtual void be_exact(bool exact) = 0;

 protected:
  PacketPool& pool_;
  Time now_;
};

// What a discipline keeps for one node.
class NodeBuffers {
 public:
  virtual ~NodeBuffers() = default;
  // The most that can wait at `out` for the packets of one flow: timeouts are longer than these take.
  virtual std::uint64_t capacity_bytes(PortId out) const = 0;
  // From now on the port's limits and thresholds are this share of those it was made with, but let a full
  // packet in. Called where Discipline::scales_limits says so.
  virtual void scale_limits(PortId /*out*/, double /*share*/) {}
  // What it has counted, in a fixed order; summed over all nodes.
  virtual Signals signals() const { return {}; }
  // What packets that pass `port` will touch, asked once, to be fetched into the cache before they come.
  struct Memory {
    const void* port =
        nullptr;  // ports follow each other: that of the one they come in through is also fetched
    const void* more = nullptr;  // another line

    static constexpr std::intptr_t kPortBytes = 64;
    // What `port` is for another port, if this one is of `own`.
    const void* beside(PortId other, PortId own) const {
      const std::intptr_t ports = std::intptr_t{other} - std::intptr_t{own};
      return reinterpret_cast<const void*>(reinterpret_cast<std::intptr_t>(port) + ports * kPortBytes);
    }
  };
  virtual Memory memory(PortId /*port*/) const { return {}; }
  // A packet will soon come in through `in` to join `out`: fetches what is found in memory(), and then what
  // that leads to.
  virtual void prefetch_deep(PortId /*in*/, PortId /*out*/) const {}
  virtual void prefetch_deepest(PortId /*in*/, PortId /*out*/) const {}
};

// Decides what FIFO queues take that have more in common than their own occupancy. The departure is known on
// arrival: a hop is one event.
class Admission : public NodeBuffers {
 public:
  enum class Verdict : std::uint8_t { kDrop, kTake, kMark };
  // May a packet join the queue of `out` at `now`, to leave it to the last bit at `departure`? Called in the
  // order of time.
  virtual Verdict admit(PortId out, std::uint32_t bytes, Time now, Time departure) = 0;
};

// The queues of one node, and its buffers. Nothing but this node may be looked at.
//
// What leaves a port is decided when its link is free, by all that has arrived until then. But it is worked
// out later, when something else happens at the port: next() is called for a moment that is past, as long as
// nothing has changed since. Only the far end must not notice, so the port has an event if nothing happens
// for the time that its cable takes. So a hop costs little more than one event. What next() does may depend
// on nothing but the port then; a node for which that is not so asks for everything at its time (exact()).
class NodeQueues : public NodeBuffers {
 public:
  static constexpr PacketHandle kNone = kNoPacket;
  static constexpr PortId kHere = kNoPort;  // an `in` port: the packet comes from this host
  struct Next {
    PacketHandle packet = kNone;
    std::uint32_t bytes = 0;
    std::uint32_t more = 0;  // 1: others wait, or none of those that wait may go; a bool is returned slowly
  };

  // A packet has arrived through port `in` and is to leave through `out`: it is kept, dropped, trimmed ….
  // Afterwards `out` is asked for its next(), unless it is sending.
  virtual void arrive(PortId in, PortId out, PacketHandle packet, NodeActions& node) = 0;
  // A packet has arrived at a port where none waits, and is to leave at once, or as soon as the link is free
  // (commits()): to its last bit at `departure`. False: it is to arrive() like others.
  virtual bool pass(PortId /*in*/, PortId /*out*/, PacketHandle /*packet*/, Time /*start*/,
                    Time /*departure*/, NodeActions& /*node*/) {
    return false;
  }
  // The link of `out` is free: the packet that goes on the wire now.
  virtual Next next(PortId out, NodeActions& node) = 0;
  // The packet that next() has just given will have left to its last bit at `departure`.
  virtual void started(PortId /*out*/, Time /*departure*/, NodeActions& /*node*/) {}
  // What NodeActions::look_at() has asked for. Other things that happen then may have come before or not.
  virtual void look(PortId /*port*/, NodeActions& /*node*/) {}
  // The packet that next() gave last will not arrive: the link of `out` has just lost it.
  virtual void lost_when_sent(PortId /*out*/, PacketHandle /*packet*/, NodeActions& /*node*/) {}
  // A packet that should have arrived through `in` was lost, as the link was cut while it was on its way.
  virtual void lost_on_wire(PortId /*in*/, PacketHandle /*packet*/, NodeActions& /*node*/) {}
  // What the other end of the port's cable has sent with send_frame(), or with return_room() if it isn't
  // read.
  virtual void frame(PortId /*port*/, std::uint32_t /*content*/, NodeActions& /*node*/) {}
  // A discipline that returns room is asked once where it will note what packets leave that came in through
  // `port`, and told once where it will find that of the other end, good a frame's time later.
  virtual RoomReturns* room_to_read(PortId /*port*/) { return nullptr; }
  virtual void read_room(PortId /*port*/, RoomReturns* /*returns*/, Time /*frame*/) {}
  // `out` has packets and next() gave none: when will it, by the room that is on its way? Time::max(): that
  // can't be told, or not without an event.
  virtual Time ready(PortId /*out*/) const { return Time::max(); }
  // When will a data packet be taken that takes_data() refuses? Time::max(): as for ready().
  virtual Time ready_for_data(PortId /*out*/) const { return Time::max(); }

  // Could no packet leave `out`, however free its link?
  virtual bool held(PortId /*out*/, Time /*now*/) { return false; }
  // Bytes that wait at `out`, without the packet being sent.
  virtual std::uint64_t backlog_bytes(PortId out) const = 0;
  // May flows of a host hand over a data packet for `out`? So a packet leaves its flow when it can go.
  virtual bool takes_data(PortId out, Time /*now*/) { return backlog_bytes(out) == 0; }

  // What it is asked once, when it is made. Packets that find a port free and empty pass it, and it need not
  // know.
  bool free_pass() const { return free_pass_; }
  // Nothing that comes later can take a packet's turn, but for a frame where heeds_frames(): where none
  // waits, pass() is asked though the link is busy.
  bool commits() const { return commits_; }
  bool heeds_frames() const { return heeds_frames_; }
  // started() matters.
  bool follows_departures() const { return follows_departures_; }
  // Ports that may not send look for room (ready()); else it is told of in frames.
  bool returns_room() const { return returns_room_; }
  bool exact() const { return exact_ || always_exact_; }
  void set_exact(bool exact) { exact_ = exact; }
  void set_always_exact() { always_exact_ = true; }
  // Its cables are too short to look for room in time.
  void use_frames() { returns_room_ = false; }

  // For finding deadlocks, where packets are held back until the next node has room. A lane is a class or
  // virtual channel.
  struct Lane {
    PortId port{0};
    std::uint32_t lane = 0;
    auto operator<=>(const Lane&) const = default;
  };
  // Adds the lanes of ports that have packets, send nothing at `now`, and may not.
  virtual void held_back(Time /*now*/, std::vector<Lane>& /*out*/) const {}
  // Adds the lanes where packets that came through this one wait, or are being sent at `now`: as these leave,
  // it gets room. Lanes that may hold packets which will leave after `later` are added too.
  virtual void filled_by(Lane /*in*/, Time /*now*/, Time /*later*/, std::vector<Lane>& /*out*/) const {}

 protected:
  bool free_pass_ = false, commits_ = false, heeds_frames_ = false, follows_departures_ = false;
  bool returns_room_ = false, always_exact_ = false;

 private:
  bool exact_ = false;
};

// First in, first out: a ring that grows to the most that ever waited. As small as can be, because a hop
// touches one of very many. `Entry` can be copied; it has `bytes`.
template <typename Entry>
class EntryFifo {
 public:
  bool empty() const { return first_ == last_; }
  std::uint64_t bytes() const { return word_ >> kSizeBits; }
  const Entry& front() const { return ring_[first_ & mask()]; }
  const Entry& back() const { return ring_[(last_ - 1) & mask()]; }
  template <typename See>
  void for_each(See&& see) const {
    for (std::uint32_t i = first_; i != last_; ++i) see(ring_[i & mask()]);
  }
  // Fetches what push() and pop() will touch.
  [[gnu::always_inline]] void prefetch() const {
    __builtin_prefetch(ring_.get() + (first_ & mask()), 1);
    __builtin_prefetch(ring_.get() + (last_ & mask()), 1);
  }

  // REQUIRES: less than a tebibyte in all.
  void push(const Entry& entry) {
    if (last_ - first_ == size()) [[unlikely]]
      grow();
    ring_[last_++ & mask()] = entry;
    word_ += std::uint64_t{entry.bytes} << kSizeBits;
  }
  // Puts it behind the last of those that don't come after it, where these are in order: before(a, b).
  template <typename Before>
  void insert(const Entry& entry, Before&& before) {
    push(entry);
    std::uint32_t place = last_ - 1;
    for (; place != first_ && before(entry, ring_[(place - 1) & mask()]); --place) {
      ring_[place & mask()] = ring_[(place - 1) & mask()];
    }
    ring_[place & mask()] = entry;
  }
  // Takes the oldest; pop_back() the newest. REQUIRES: !empty().
  Entry pop() {
    const Entry entry = ring_[first_++ & mask()];
    if (first_ == last_) first_ = last_ = 0;  // so that few lines are used where few wait
    word_ -= std::uint64_t{entry.bytes} << kSizeBits;
    return entry;
  }
  Entry pop_back() {
    const Entry entry = ring_[--last_ & mask()];
    word_ -= std::uint64_t{entry.bytes} << kSizeBits;
    return entry;
  }

 private:
  static constexpr std::uint32_t kFirstEntries = 8;
  static constexpr unsigned kSizeBits = 24;
  std::uint32_t size() const { return word_ & ((1u << kSizeBits) - 1); }
  std::uint32_t mask() const { return size() - 1; }
  void grow() {
    const std::uint32_t wider = size() == 0 ? kFirstEntries : size() * 2;
    auto ring = std::make_unique<Entry[]>(wider);
    std::uint32_t count = 0;
    for_each([&](const Entry& entry) { ring[count++] = entry; });
    ring_ = std::move(ring);
    word_ += wider - size();
    first_ = 0;
    last_ = count;
  }

  std::unique_ptr<Entry[]> ring_;
  std::uint64_t word_ = 0;              // bytes in the upper 40 bits; below the ring's size, a power of two
  std::uint32_t first_ = 0, last_ = 0;  // counted without end
};

// A packet that waits.
struct WaitingPacket {
  PacketHandle packet = kNoPacket;
  std::uint32_t bytes = 0;
};
using PacketFifo = EntryFifo<WaitingPacket>;
static_assert(sizeof(PacketFifo) == 24);

}  // namespace weft::sim::packet
