// One partition's packets between NIC and NIC: output queues, links, and the switches' choice of port.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/core/engine.h"
#include "sim/packet/channels.h"
#include "sim/packet/mailbox.h"
#include "sim/packet/observer.h"
#include "sim/packet/packet.h"
#include "sim/routing/hash_choice.h"

namespace weft::sim::packet {

// The network's own kinds of events; the payload stands behind each.
enum EventKind : std::uint16_t {
  kHop = 1,      // a packet's last bit is at the end of the channel that is the event's source: packet handle
  kNicReady,     // a NIC may take the next packet from its flows: NIC number
  kNicTimer,     // flows of a NIC may have losses: NIC number
  kPace,         // a paced flow may send again: flow slot; detail: its generation
  kLocalCopy,    // a message within a host is there: slot of the local message
  kReceive,      // a packet has passed the NIC it came to: packet handle; detail: which of the host's NICs
  kAckTimer,     // a NIC has held an ACK back for long enough: NIC number
  kSent,         // the packet on a scheduled channel has left to its last bit: channel
  kSenderTimer,  // a connection's control wants to be called: slot; detail: its generation
  kTaken,        // a send buffer has taken a message: slot; detail: its generation
  kReceiverTimer,  // a NIC's receiver wants to be called: NIC number
  kFrame,  // a frame of a node's queues is at the end of the channel that is the event's source: content
};
static_assert(kFrame < kClientKinds);

struct FabricCounters {
  std::uint64_t packets_injected = 0, bytes_injected = 0;
  std::uint64_t packets_delivered = 0, bytes_delivered = 0;
  std::uint64_t packets_dropped = 0, bytes_dropped = 0;
  std::uint64_t packets_trimmed = 0, bytes_trimmed = 0;  // bytes cut off
  std::uint64_t headers_returned = 0;
  // Of the dropped ones: lost to wrong bits, to links that were down, and for want of a way to the
  // destination.
  std::uint64_t corrupted = 0, lost_to_down_links = 0, without_route = 0;
  std::uint64_t detours = 0;  // taken at a switch round a link that was down
  std::uint64_t marks = 0;

  FabricCounters& operator+=(const FabricCounters& other);
};

// Store and forward. Where a queue is FIFO and its server never idles with work, the departure is known on
// arrival, and a hop costs one event: at the far end of the link, pipeline latency of the switch there
// included. Occupancy follows from the time the queue will be empty. Nodes with queues of their own
// (NodeQueues) take a second event, when a packet has left.
class Fabric {
 public:
  Fabric(Engine& engine, Channels& channels, std::uint32_t partition, Outbox& outbox)
      : engine_(engine),
        channels_(channels),
        hot_(channels.hot.data()),
        free_copy_(channels.free_at_ps.empty() ? nullptr : channels.free_at_ps.data()),
        first_entity_(channels.first_entity),
        partition_(partition),
        outbox_(outbox) {}

  void set_observer(Observer* observer) { observer_ = observer; }

  PacketPool& packets() { return pool_; }
  const PacketPool& packets() const { return pool_; }
  std::uint32_t wire_bytes(const Packet& packet) const { return packet.bytes; }
  // When the link of a NIC is free. Of no use where NICs have queues of their own.
  Time free_at(std::uint32_t c) const { return Time::ps(channels_.hot[c].free_at_ps); }
  bool scheduled(std::uint32_t c) const { return channels_.hot[c].flags & kScheduled; }
  // May a flow hand over a data packet to this NIC now? For NICs with queues of their own.
  bool takes_data(std::uint32_t c) const {
    return !channels_.cold[c].busy && queues_of(c).takes_data(channels_.cold[c].port);
  }

  // A packet enters the network through the NIC of channel `c`.
  void inject(std::uint32_t c, std::uint32_t handle) {
    const std::uint32_t bytes = wire_bytes(pool_[handle]);
    ++counters_.packets_injected;
    counters_.bytes_injected += bytes;
    if (observer_ != nullptr) [[unlikely]]
      observer_->on_inject(engine_.now(), sighting(handle));
    enqueue(c, handle, kNone);
  }
  // A packet is at its host. It stays in the pool: the caller releases it or sends it back as an ACK.
  void deliver(std::uint32_t handle) {
    ++counters_.packets_delivered;
    counters_.bytes_delivered += wire_bytes(pool_[handle]);
    if (observer_ != nullptr) [[unlikely]]
      observer_->on_deliver(engine_.now(), sighting(handle));
  }
  // A packet is at a switch, through channel `in`: picks the output and queues it there, or drops it.
  void forward(topologies::Vertex at, std::uint32_t in, std::uint32_t handle) {
    Foreseen& foreseen = foreseen_[handle % kForeseen];
    if (foreseen.handle == handle) [[likely]] {
      foreseen.handle = kNone;
      enqueue(foreseen.channel, handle, in);
    } else {
      const std::uint32_t c = choose_channel(at, pool_[handle]);
      if (c != kNone) [[likely]] {
        enqueue(c, handle, in);
      } else {
        ++counters_.without_route;
        lose(in, handle);
      }
    }
  }
  // Fetches what foresee() reads. Always inlined, here and below, because GCC takes a function that only
  // prefetches for one without effect, and drops the call.
  [[gnu::always_inline]] void prefetch_route(topologies::Vertex at, std::uint32_t handle) const {
    channels_.table->prefetch(at, pool_[handle].destination);
  }
  // A packet will soon be at a switch: works out the output, which depends on nothing that may still change,
  // for forward() to find, and fetches its queue. Not where policies choose.
  [[gnu::always_inline]] void foresee(topologies::Vertex at, std::uint32_t handle) {
    if (!channels_.policies.empty() || channels_.degraded) return;
    const std::uint32_t c = hashed_channel(at, pool_[handle]);
    foreseen_[handle % kForeseen] = {handle, c};
    __builtin_prefetch(&hot_[c], 1);
  }
  [[gnu::always_inline]] void prefetch_queue(std::uint32_t c) const { __builtin_prefetch(&hot_[c], 1); }
  // The event of a packet at the end of a channel, before it is forwarded or delivered.
  void note_arrival(std::uint32_t c, std::uint32_t handle) {
    if (observer_ != nullptr) [[unlikely]]
      observer_->on_arrive(engine_.now(), c, sighting(handle));
  }
  // Was the packet of this event on channel `c` when that was cut? Then it is gone.
  bool lost_on_wire(std::uint32_t c, const Event& event);
  // Routes have changed: forgets what was worked out ahead.
  void forget_foreseen() { foreseen_.fill({}); }
  // Takes in what another partition has sent over a cut link.
  void take_in(Mail& mail) {
    for (Arrival& arrival : mail.arrivals) {
      if (arrival.event.kind == kHop) [[likely]] {
        arrival.event.payload = pool_.acquire();
        pool_[arrival.event.payload] = arrival.packet;
        pool_.acks().set(arrival.event.payload, {});
        pool_.credits().set(arrival.event.payload, 0);
      }
      engine_.insert(arrival.event);
    }
    for (const auto& [position, ack] : mail.acks)
      pool_.acks().set(mail.arrivals[position].event.payload, ack);
    for (const auto& [position, credit] : mail.credits)
      pool_.credits().set(mail.arrivals[position].event.payload, credit);
  }
  // Events of scheduled channels. Both return a channel whose NIC may take a data packet now, or kNone.
  std::uint32_t sent(std::uint32_t c);
  std::uint32_t frame_arrived(std::uint32_t c, std::uint32_t content);

  const FabricCounters& counters() const { return counters_; }

 private:
  // Outputs worked out ahead. An entry is taken by the very next hop of its packet or overwritten by another
  // packet's, so none is ever old.
  static constexpr std::uint32_t kNone = PacketPool::kNone;
  static constexpr std::uint32_t kForeseen = 256;
  struct Foreseen {
    std::uint32_t handle = kNone, channel = 0;
  };

  // The output by the built-in rule.
  std::uint32_t hashed_channel(topologies::Vertex at, const Packet& packet) const {
    // By value: nothing is put into memory for the few lookups that are worked out elsewhere.
    const auto choose = [entropy = packet.entropy, salts = channels_.salts.data(), at](std::size_t count) {
      return routing::hash_choice(entropy, salts[at], count);
    };
    return channels_.table->candidate(at, packet.destination, choose);
  }
  // kNone: there is no way.
  std::uint32_t choose_channel(topologies::Vertex at, const Packet& packet) {
    if (channels_.policies.empty() && !channels_.degraded) return hashed_channel(at, packet);
    return choose_among_all(at, packet);
  }
  std::uint32_t choose_among_all(topologies::Vertex at, const Packet& packet);
  std::uint32_t choose_among(topologies::Vertex at, const Packet& packet,
                             std::span<const std::uint32_t> candidates);
  void enqueue(std::uint32_t c, std::uint32_t handle, std::uint32_t in) {
    Channel& channel = hot_[c];
    if (channel.flags != 0) [[unlikely]] {
      enqueue_special(c, handle, in);
      return;
    }
    Packet& packet = pool_[handle];
    const std::int64_t now = engine_.now().ps();
    const std::int64_t start = channel.free_at_ps > now ? channel.free_at_ps : now;
    const std::uint32_t bytes = wire_bytes(packet);
    const std::int64_t departure = start + channels_.serialization_ps(c, channel, bytes);
    if (departure - now > channel.capacity_ps) [[unlikely]] {
      drop(c, handle);
      return;
    }
    if (start - now > channel.mark_above_ps) [[unlikely]]
      mark(c, packet, start - now, departure - start);
    channel.free_at_ps = departure;
    channel.bytes += bytes;
    const auto sequence = static_cast<std::uint32_t>(channel.packets++);  // one event per packet
    if (departure - now > channel.max_backlog_ps) channel.max_backlog_ps = departure - now;
    if (free_copy_ != nullptr) free_copy_[c] = departure;
    if (observer_ != nullptr) [[unlikely]] {
      observer_->on_enqueue(engine_.now(), c, sighting(handle), Time::ps(departure));
    }
    put_on_wire(channel, {departure + channel.delay_ps, sequence, first_entity_ + c, handle, kHop, 0});
  }
  // Schedules a packet's event at the far end.
  void put_on_wire(const Channel& channel, const Event& hop) {
    if (channel.end_partition == partition_) [[likely]] {
      engine_.insert(hop);
    } else {
      outbox_.send(channel.end_partition, hop, pool_[hop.payload], pool_, hop.payload);
      pool_.release(hop.payload);
    }
  }
  // A channel with any ChannelFlag.
  void enqueue_special(std::uint32_t c, std::uint32_t handle, std::uint32_t in);
  void enqueue_fifo(std::uint32_t c, std::uint32_t handle, std::uint32_t in);
  // Draws whether a packet that goes on the wire now will not arrive, and counts it.
  bool fails_on_wire(std::uint32_t c, std::uint32_t bytes);
  // Scheduled channels.
  class Node;
  NodeQueues& queues_of(std::uint32_t c) const {
    return *channels_.queues[channels_.topology.channels()[c].from];
  }
  void arrive(std::uint32_t c, std::uint32_t handle, std::uint32_t in);
  void start(std::uint32_t c);
  std::uint32_t ready_nic(std::uint32_t c) const {
    return (channels_.ends[c ^ 1] & kHostBit) && takes_data(c) ? c : kNone;
  }
  void note_backlog(std::uint32_t c);
  std::uint32_t ask_policy(topologies::Vertex at, const Packet& packet,
                           std::span<const std::uint32_t> candidates);
  void drop(std::uint32_t c, std::uint32_t handle);
  void lose(std::uint32_t c, std::uint32_t handle);  // the same for a channel that may be another partition's
  bool phantom_marks(ColdChannel& cold, std::int64_t serialization_ps);
  void mark(std::uint32_t c, Packet& packet, std::int64_t backlog_ps, std::int64_t serialization_ps);
  void set_mark(std::uint32_t c, Packet& packet);
  Sighting sighting(std::uint32_t handle);

  Engine& engine_;
  Channels& channels_;
  // Of channels_, where every hop finds them.
  Channel* const hot_;
  std::int64_t* const free_copy_;  // null: there are no policies
  const EntityId first_entity_;
  const std::uint32_t partition_;
  Outbox& outbox_;
  Observer* observer_ = nullptr;
  PacketPool pool_;
  std::array<Foreseen, kForeseen> foreseen_;  // by handle
  FabricCounters counters_;
};

}  // namespace weft::sim::packet
