// One partition's packets between NIC and NIC: output queues, links, and the switches' choice of port.
#pragma once

#include <cstdint>

#include "sim/core/engine.h"
#include "sim/packet/channels.h"
#include "sim/packet/fifo_server.h"
#include "sim/packet/mailbox.h"
#include "sim/packet/observer.h"
#include "sim/packet/packet.h"
#include "sim/packet/route_choice.h"
#include "sim/packet/scheduled_server.h"
#include "sim/packet/switch_policies.h"
#include "sim/packet/wires.h"

namespace weft::sim::packet {

// What was worked out ahead for a packet that will be at a switch (LookAhead).
struct Foreseen {
  PacketHandle handle = kNoPacket;
  ChannelId channel{0};  // kNoChannel: it isn't known
  RouteChoice::Ahead ahead;
};

// Store and forward: joins the switches' choice of port with the servers of queues, FIFO ones and others.
class Fabric final : private Forwarding {
 public:
  Fabric(Engine& engine, Channels& channels, SwitchPolicies& policies, std::uint32_t partition,
         Outbox& outbox)
      : wires_(engine, channels, partition, outbox),
        fifo_(wires_),
        scheduled_(wires_, *this),
        routes_(wires_, scheduled_, *this, policies),
        engine_(engine),
        channels_(channels),
        hot_(channels.hot.data()) {
    if (channels.stamps()) wires_.pool.telemetry().keep();
  }

  // For checkers and logs. What a scheduled queue does is then worked out as it happens.
  void set_observer(Observer* observer) {
    wires_.observer = observer;
    if (observer != nullptr) scheduled_.watch_all();
  }

  PacketPool& packets() { return wires_.pool; }
  const PacketPool& packets() const { return wires_.pool; }
  RouteChoice& routes() { return routes_; }
  // When the link of a NIC is free. Of no use where NICs have queues of their own.
  Time free_at(ChannelId c) const { return Time::ps(channels_.hot[c].free_at_ps); }
  bool scheduled(ChannelId c) const { return channels_.hot[c].flags & kScheduled; }
  // May a flow hand over a data packet to this NIC now? For NICs with queues of their own.
  bool takes_data(ChannelId c) const { return scheduled_.takes_data(c); }
  // A flow waits until it does: it will be told (serve(), frame_arrived()).
  void await_room(ChannelId c) { scheduled_.await_room(c); }

  // A packet enters the network through the NIC of channel `c`.
  void inject(ChannelId c, PacketHandle handle) {
    ++wires_.counters.packets_injected;
    wires_.counters.bytes_injected += wires_.pool[handle].bytes;
    if (wires_.observer != nullptr) [[unlikely]]
      wires_.observer->on_inject(engine_.now(), wires_.sighting(handle));
    routes_.begin(handle);
    enqueue(c, handle, kNoChannel);
  }
  // A packet is at its host. It stays in the pool: the caller releases it or sends it back as an ACK.
  void deliver(PacketHandle handle) {
    const Packet& packet = wires_.pool[handle];
    ++wires_.counters.packets_delivered;
    wires_.counters.bytes_delivered += packet.bytes;
    wires_.counters.data_delivered += !packet.control();
    if (wires_.observer != nullptr) [[unlikely]]
      wires_.observer->on_deliver(engine_.now(), wires_.sighting(handle));
  }
  // A packet is at a switch, through channel `in`: picks the output and queues it there, or drops it.
  // `foreseen`: what is known of that, or null.
  // `kSimple`: is_simple().
  template <bool kSimple = false>
  [[gnu::always_inline]] void forward(NodeId at, ChannelId in, PacketHandle handle,
                                      const Foreseen* foreseen = nullptr) {
    ChannelId c = kNoChannel;
    if (foreseen != nullptr && foreseen->channel != kNoChannel) [[likely]] {
      c = foreseen->channel;
      if constexpr (!kSimple) {
        if (routes_.leaves_traces()) routes_.leave_traces(in, handle, foreseen->ahead);
      }
    } else {
      c = find_output(at, in, handle, foreseen);
      if (c == kNoChannel) [[unlikely]]
        return lose_without_route(in, handle);
    }
    if (hot_[c].flags != 0) [[unlikely]] {
      enqueue_special(c, handle, in);
    } else {
      fifo_.enqueue<kSimple>(c, handle);
    }
  }
  // Is nothing going on that a hop has to look out for: observers, links that change, policies, queues that
  // are scheduled or share a buffer, stamps and other records beside packets?
  bool is_simple() const {
    return wires_.observer == nullptr && !channels_.links_change && routes_.is_plain() &&
           channels_.buffers.empty() && !channels_.stamps() && !wires_.pool.keeps_records();
  }
  // The event of a packet at the end of a channel, before it is forwarded or delivered.
  void note_arrival(ChannelId c, PacketHandle handle) {
    if (wires_.observer != nullptr) [[unlikely]]
      observe_arrival(c, handle);
  }
  // Was the packet of this event on channel `c` when that was cut? Then it is gone.
  bool lost_on_wire(ChannelId c, const Event& event);
  // Takes in what another partition has sent over a cut link.
  void take_in(Mail& mail);
  // Events of scheduled channels. Both return a channel whose NIC may take a data packet now, or kNoChannel.
  ChannelId serve(ChannelId c) { return scheduled_.serve(c); }
  ChannelId frame_arrived(ChannelId c, std::uint32_t content) { return scheduled_.frame_arrived(c, content); }
  void look(ChannelId c) { scheduled_.look(c); }
  // A packet that waited goes on the wire now (FifoServer).
  void start(ChannelId c, std::uint32_t record) { fifo_.start(c, record); }
  // Events of routing policies, and a view of a switch for them.
  void policy_timer(SwitchId at, std::uint32_t cookie) { routes_.news().timer(at, cookie); }
  void departed(std::uint32_t record) { routes_.news().departed(record); }
  routing::OwnSwitch& view(SwitchId at, Time now) { return routes_.news().view(at, now); }
  // See ScheduledServer, here and below.
  void settle_all(Time now) { scheduled_.settle_all(now); }
  Time settle_watched(Time now) { return scheduled_.settle_watched(now); }
  void settle_in_order() { scheduled_.settle_in_order(); }
  bool observed() const { return wires_.observer != nullptr; }

  const FabricCounters& counters() const { return wires_.counters; }

 private:
  // Not inlined, because few packets come here that were not foreseen.
  [[gnu::noinline]] ChannelId find_output(NodeId at, ChannelId in, PacketHandle handle,
                                          const Foreseen* foreseen) {
    const std::uint32_t set = foreseen != nullptr ? foreseen->ahead.set : MinimalWays::kNoSet;
    return routes_.output(at, in, handle, set);
  }
  [[gnu::noinline]] void enqueue(ChannelId c, PacketHandle handle, ChannelId in) {
    if (hot_[c].flags != 0) [[unlikely]] {
      enqueue_special(c, handle, in);
    } else {
      fifo_.enqueue<false>(c, handle);
    }
  }
  // A channel with any ChannelFlag.
  void enqueue_special(ChannelId c, PacketHandle handle, ChannelId in);
  void send_from(NodeId at, PacketHandle handle, ChannelId seen_at) override;
  void lose_without_route(ChannelId in, PacketHandle handle);
  void observe_arrival(ChannelId c, PacketHandle handle);

  Wires wires_;
  FifoServer fifo_;
  ScheduledServer scheduled_;
  RouteChoice routes_;
  // These are wires_'s, kept where every hop finds them.
  Engine& engine_;
  Channels& channels_;
  Channel* const hot_;
};

}  // namespace weft::sim::packet
