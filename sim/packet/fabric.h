// Links, their output queues and the switches' choice of port: a packet's way from NIC to NIC.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/core/engine.h"
#include "sim/packet/observer.h"
#include "sim/packet/packet.h"
#include "sim/packet/queues.h"
#include "sim/routing/hash_choice.h"
#include "sim/routing/routing.h"
#include "sim/routing/routing_table.h"
#include "topologies/graph/topology.h"

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
};

// Output-queued, store and forward. A queue is FIFO and its server never idles with work, so the departure is
// known on arrival, and a hop costs one event: at the far end of the link, pipeline latency of the switch
// there included. Occupancy follows from the time the queue will be empty.
class Fabric {
 public:
  Fabric(Engine& engine, const topologies::Topology& topology, const routing::RoutingTable& table,
         const routing::Policy& policy, const Parameters& routing_parameters, std::uint32_t ack_bytes);

  // Sets the discipline of all switch ports. NIC queues hold anything and never mark.
  void set_queues(const Discipline& discipline, const Parameters& parameters, Time rtt,
                  std::uint32_t packet_bytes);
  void set_observer(Observer* observer) { observer_ = observer; }

  // Who the packets of a flow's slot travel between, for policies that ask.
  void set_flow(std::uint32_t slot, std::uint32_t source, std::uint32_t destination, std::uint64_t identity) {
    if (slot >= flows_.size()) flows_.resize(slot + 1);
    flows_[slot] = {source, destination, identity};
  }

  PacketPool& packets() { return pool_; }
  const PacketPool& packets() const { return pool_; }
  std::uint32_t wire_bytes(const Packet& packet) const {
    return packet.ack() ? ack_bytes_ : packet.bytes_or_cumulative;
  }
  // The vertex at the end of a channel, with kHostBit set if it is a host.
  static constexpr std::uint32_t kHostBit = 0x80000000;
  std::uint32_t end_of(std::uint32_t channel) const { return ends_[channel]; }
  EntityId first_channel_entity() const { return first_entity_; }
  Bandwidth rate(std::uint32_t channel) const { return cold_[channel].rate; }
  Time free_at(std::uint32_t channel) const { return Time::ps(channels_[channel].free_at_ps); }
  Time serialization(std::uint32_t channel, std::uint32_t bytes) const {
    return Time::ps(serialization_ps(channel, channels_[channel], bytes));
  }

  // A packet enters the network through the NIC of `channel`.
  void inject(std::uint32_t channel, std::uint32_t handle) {
    const std::uint32_t bytes = wire_bytes(pool_[handle]);
    ++counters_.packets_injected;
    counters_.bytes_injected += bytes;
    if (observer_ != nullptr) [[unlikely]]
      observer_->on_inject(engine_.now(), sighting(handle));
    enqueue(channel, handle);
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
    } else if (policies_.empty()) {
      enqueue(hashed_channel(at, pool_[handle]), handle);
    } else {
      const Packet& packet = pool_[handle];
      const auto candidates = table_.candidates(at, packet.destination);
      enqueue(candidates[candidates.size() > 1 ? ask_policy(at, packet, candidates) : 0], handle);
    }
  }
  // Fetches what foresee() reads. Always inlined, here and below, because GCC takes a function that only
  // prefetches for one without effect, and drops the call.
  [[gnu::always_inline]] void prefetch_route(topologies::Vertex at, std::uint32_t handle) const {
    table_.prefetch(at, pool_[handle].destination);
  }
  // A packet will soon be at a switch: works out the output, which depends on nothing that may still change,
  // for forward() to find, and fetches its queue. Not where policies choose.
  [[gnu::always_inline]] void foresee(topologies::Vertex at, std::uint32_t handle) {
    if (!policies_.empty()) return;
    const std::uint32_t channel = hashed_channel(at, pool_[handle]);
    foreseen_[handle % kForeseen] = {handle, channel};
    __builtin_prefetch(&channels_[channel], 1);
  }
  [[gnu::always_inline]] void prefetch_queue(std::uint32_t channel) const {
    __builtin_prefetch(&channels_[channel], 1);
  }
  // The event of a packet at the end of a channel, before it is forwarded or delivered.
  void note_arrival(std::uint32_t channel, std::uint32_t handle) {
    if (observer_ != nullptr) [[unlikely]]
      observer_->on_arrive(engine_.now(), channel, sighting(handle));
  }

  // Round trip of a packet of `bytes` and its ACK with no queueing, on the path that the built-in rule takes
  // with this entropy; the ACK is taken to come back over the same cables.
  Time round_trip(std::uint32_t nic_channel, std::uint32_t destination_host, std::uint32_t entropy,
                  std::uint32_t bytes) const;

  const FabricCounters& counters() const { return counters_; }
  // Of one channel, for reports.
  std::uint64_t channel_bytes(std::uint32_t c) const { return channels_[c].bytes; }
  std::uint64_t channel_packets(std::uint32_t c) const { return channels_[c].packets; }
  std::uint64_t channel_drops(std::uint32_t c) const { return cold_[c].drops; }
  std::uint64_t channel_marks(std::uint32_t c) const { return cold_[c].marks; }
  std::uint64_t channel_max_queue_bytes(std::uint32_t c) const;
  // Waiting at `now`, with what remains of the packet being sent. REQUIRES: all events before `now` executed.
  std::uint64_t channel_queue_bytes(std::uint32_t c, Time now) const;
  // The longest any queue can make a packet wait; NIC queues aside.
  Time longest_queue() const { return longest_queue_; }

 private:
  // One cache line; all a hop touches. Limits are in time at the channel's rate.
  struct alignas(64) Channel {
    std::int64_t free_at_ps = 0;               // the queue is empty from then on
    std::int64_t delay_ps = 0;                 // propagation, and the pipeline of the switch at its end
    std::int64_t mark_above_ps = INT64_MAX;    // backlogs above may be marked
    std::int64_t capacity_ps = INT64_MAX / 4;  // a packet's departure is never further away
    std::uint64_t bytes = 0, packets = 0;
    std::int64_t max_backlog_ps = 0;
    std::uint32_t ps_per_byte = 0;  // 0: not a whole number, or too big
  };
  struct ColdChannel {
    Bandwidth rate;
    std::int64_t mark_all_above_ps = INT64_MAX;
    double mark_slope = 0;  // probability per picosecond above Channel::mark_above_ps
    std::uint64_t drops = 0, marks = 0;
    RandomStream random;
  };
  struct FlowEnds {
    std::uint32_t source = 0, destination = 0;
    std::uint64_t identity = 0;
  };

  // Outputs worked out ahead. An entry is taken by the very next hop of its packet or overwritten by another
  // packet's, so none is ever old.
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::uint32_t kForeseen = 256;
  struct Foreseen {
    std::uint32_t handle = kNone, channel = 0;
  };

  std::int64_t serialization_ps(std::uint32_t c, const Channel& channel, std::uint32_t bytes) const {
    if (channel.ps_per_byte != 0) [[likely]]
      return std::int64_t{channel.ps_per_byte} * bytes;
    return cold_[c].rate.serialization(bytes).ps();
  }
  // The output by the built-in rule.
  std::uint32_t hashed_channel(topologies::Vertex at, const Packet& packet) const {
    return table_.candidate(at, packet.destination, [&](std::size_t count) {
      return routing::hash_choice(packet.entropy, salts_[at], count);
    });
  }
  void enqueue(std::uint32_t c, std::uint32_t handle) {
    Channel& channel = channels_[c];
    Packet& packet = pool_[handle];
    const std::int64_t now = engine_.now().ps();
    const std::int64_t start = channel.free_at_ps > now ? channel.free_at_ps : now;
    const std::uint32_t bytes = wire_bytes(packet);
    const std::int64_t departure = start + serialization_ps(c, channel, bytes);
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
    if (!free_at_ps_.empty()) free_at_ps_[c] = departure;
    if (observer_ != nullptr) [[unlikely]] {
      observer_->on_enqueue(engine_.now(), c, sighting(handle), Time::ps(departure));
    }
    engine_.schedule_counted(Time::ps(departure + channel.delay_ps), first_entity_ + c, sequence, kHop,
                             handle);
  }
  std::uint32_t ask_policy(topologies::Vertex at, const Packet& packet,
                           std::span<const std::uint32_t> candidates);
  void drop(std::uint32_t c, std::uint32_t handle);
  void mark(std::uint32_t c, Packet& packet, std::int64_t backlog_ps);
  Sighting sighting(std::uint32_t handle);
  // What a queue holds that takes so long to send.
  std::uint64_t backlog_bytes(std::uint32_t c, std::int64_t backlog_ps) const;

  Engine& engine_;
  const topologies::Topology& topology_;
  const routing::RoutingTable& table_;
  Observer* observer_ = nullptr;
  EntityId first_entity_ = 0;
  std::uint32_t ack_bytes_;
  PacketPool pool_;
  std::vector<Channel> channels_;
  std::vector<std::uint32_t> ends_;
  std::vector<std::uint64_t> salts_;  // by vertex
  std::vector<ColdChannel> cold_;
  std::vector<FlowEnds> flows_;                                   // by slot
  std::vector<std::unique_ptr<routing::SwitchPolicy>> policies_;  // by switch; empty: the built-in rule
  std::vector<std::int64_t> free_at_ps_;  // a copy of Channel::free_at_ps, kept only if there are policies
  std::array<Foreseen, kForeseen> foreseen_;  // by handle
  FabricCounters counters_;
  Time longest_queue_;
};

}  // namespace weft::sim::packet
