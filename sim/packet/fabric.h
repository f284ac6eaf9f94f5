// One partition's packets between NIC and NIC: output queues, links, and the switches' choice of port.
#pragma once

#include <array>
#include <cstdint>

#include "sim/core/engine.h"
#include "sim/packet/channels.h"
#include "sim/packet/mailbox.h"
#include "sim/packet/observer.h"
#include "sim/packet/packet.h"
#include "sim/routing/hash_choice.h"

namespace weft::sim::packet {

// The network's own kinds of events; the payload stands behind each.
enum EventKind : std::uint16_t {
  kHop = 1,    // a packet's last bit is at the end of the channel that is the event's source: packet handle
  kNicReady,   // a NIC may take the next packet from its flows: NIC number
  kNicTimer,   // flows of a NIC may have losses: NIC number
  kPace,       // a paced flow may send again: flow slot; detail: its generation
  kLocalCopy,  // a message within a host is there: slot of the local message
};
static_assert(kLocalCopy < kClientKinds);

struct FabricCounters {
  std::uint64_t packets_injected = 0, bytes_injected = 0;
  std::uint64_t packets_delivered = 0, bytes_delivered = 0;
  std::uint64_t packets_dropped = 0, bytes_dropped = 0;
  std::uint64_t marks = 0;

  FabricCounters& operator+=(const FabricCounters& other);
};

// Output-queued, store and forward. A queue is FIFO and its server never idles with work, so the departure is
// known on arrival, and a hop costs one event: at the far end of the link, pipeline latency of the switch
// there included. Occupancy follows from the time the queue will be empty.
class Fabric {
 public:
  Fabric(Engine& engine, Channels& channels, std::uint32_t partition, Outbox& outbox)
      : engine_(engine), channels_(channels), partition_(partition), outbox_(outbox) {}

  void set_observer(Observer* observer) { observer_ = observer; }

  PacketPool& packets() { return pool_; }
  const PacketPool& packets() const { return pool_; }
  std::uint32_t wire_bytes(const Packet& packet) const {
    return packet.ack() ? channels_.control_bytes : packet.bytes_or_cumulative;
  }
  Time free_at(std::uint32_t channel) const { return Time::ps(channels_.hot[channel].free_at_ps); }

  // A packet enters the network through the NIC of channel `c`.
  void inject(std::uint32_t c, std::uint32_t handle) {
    const std::uint32_t bytes = wire_bytes(pool_[handle]);
    ++counters_.packets_injected;
    counters_.bytes_injected += bytes;
    if (observer_ != nullptr) [[unlikely]]
      observer_->on_inject(engine_.now(), sighting(handle));
    enqueue(c, handle);
  }
  // A packet is at its host. It stays in the pool: the caller releases it or sends it back as an ACK.
  void deliver(std::uint32_t handle) {
    ++counters_.packets_delivered;
    counters_.bytes_delivered += wire_bytes(pool_[handle]);
    if (observer_ != nullptr) [[unlikely]]
      observer_->on_deliver(engine_.now(), sighting(handle));
  }
  // A packet is at a switch: picks the output and queues it there, or drops it.
  void forward(topologies::Vertex at, std::uint32_t handle) {
    Foreseen& foreseen = foreseen_[handle % kForeseen];
    if (foreseen.handle == handle) [[likely]] {
      foreseen.handle = kNone;
      enqueue(foreseen.channel, handle);
    } else if (channels_.policies.empty()) {
      enqueue(hashed_channel(at, pool_[handle]), handle);
    } else {
      const Packet& packet = pool_[handle];
      const auto candidates = channels_.table.candidates(at, packet.destination);
      enqueue(candidates[candidates.size() > 1 ? ask_policy(at, packet, candidates) : 0], handle);
    }
  }
  // Fetches what foresee() reads. Always inlined, here and below, because GCC takes a function that only
  // prefetches for one without effect, and drops the call.
  [[gnu::always_inline]] void prefetch_route(topologies::Vertex at, std::uint32_t handle) const {
    channels_.table.prefetch(at, pool_[handle].destination);
  }
  // A packet will soon be at a switch: works out the output, which depends on nothing that may still change,
  // for forward() to find, and fetches its queue. Not where policies choose.
  [[gnu::always_inline]] void foresee(topologies::Vertex at, std::uint32_t handle) {
    if (!channels_.policies.empty()) return;
    const std::uint32_t c = hashed_channel(at, pool_[handle]);
    foreseen_[handle % kForeseen] = {handle, c};
    __builtin_prefetch(&channels_.hot[c], 1);
  }
  [[gnu::always_inline]] void prefetch_queue(std::uint32_t c) const {
    __builtin_prefetch(&channels_.hot[c], 1);
  }
  // The event of a packet at the end of a channel, before it is forwarded or delivered.
  void note_arrival(std::uint32_t c, std::uint32_t handle) {
    if (observer_ != nullptr) [[unlikely]]
      observer_->on_arrive(engine_.now(), c, sighting(handle));
  }
  // Takes in what another partition has sent over a cut link.
  void take_in(Arrival& arrival) {
    arrival.event.payload = pool_.acquire();
    pool_[arrival.event.payload] = arrival.packet;
    engine_.insert(arrival.event);
  }

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
    return channels_.table.candidate(at, packet.destination, [&](std::size_t count) {
      return routing::hash_choice(packet.entropy, channels_.salts[at], count);
    });
  }
  void enqueue(std::uint32_t c, std::uint32_t handle) {
    Channel& channel = channels_.hot[c];
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
      mark(c, packet, start - now);
    channel.free_at_ps = departure;
    channel.bytes += bytes;
    const auto sequence = static_cast<std::uint32_t>(channel.packets++);  // one event per packet
    if (departure - now > channel.max_backlog_ps) channel.max_backlog_ps = departure - now;
    if (!channels_.free_at_ps.empty()) channels_.free_at_ps[c] = departure;
    if (observer_ != nullptr) [[unlikely]] {
      observer_->on_enqueue(engine_.now(), c, sighting(handle), Time::ps(departure));
    }
    const Event hop{departure + channel.delay_ps, sequence, channels_.first_entity + c, handle, kHop, 0};
    if (channel.end_partition == partition_) [[likely]] {
      engine_.insert(hop);
    } else {
      outbox_.send(channel.end_partition, hop, packet);
      pool_.release(handle);
    }
  }
  std::uint32_t ask_policy(topologies::Vertex at, const Packet& packet,
                           std::span<const std::uint32_t> candidates);
  void drop(std::uint32_t c, std::uint32_t handle);
  void mark(std::uint32_t c, Packet& packet, std::int64_t backlog_ps);
  Sighting sighting(std::uint32_t handle);

  Engine& engine_;
  Channels& channels_;
  const std::uint32_t partition_;
  Outbox& outbox_;
  Observer* observer_ = nullptr;
  PacketPool pool_;
  std::array<Foreseen, kForeseen> foreseen_;  // by handle
  FabricCounters counters_;
};

}  // namespace weft::sim::packet
