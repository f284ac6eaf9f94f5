// One partition's packets between NIC and NIC: output queues, links, and the switches' choice of port.
#pragma once

#include <array>
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
        hot_(channels.hot.data()),
        stamps_(channels.stamps()) {
    if (channels.stamps()) wires_.pool.telemetry().keep();
  }

  // For checkers and logs. What a scheduled queue does is then worked out as it happens.
  void set_observer(Observer* observer) {
    wires_.observer = observer;
    if (observer != nullptr) scheduled_.watch_all();
  }

  PacketPool& packets() { return wires_.pool; }
  const PacketPool& packets() const { return wires_.pool; }
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
  void forward(NodeId at, ChannelId in, PacketHandle handle) {
    Foreseen& foreseen = foreseen_[handle % kForeseen];
    const bool is_foreseen = foreseen.handle == handle;
    if (is_foreseen) foreseen.handle = kNoPacket;
    if (is_foreseen && foreseen.channel != kNoChannel) [[likely]] {
      if (routes_.leaves_traces()) [[unlikely]]
        routes_.leave_traces(in, handle, foreseen.ahead);
      enqueue(foreseen.channel, handle, in);
    } else {
      const std::uint32_t set = is_foreseen ? foreseen.ahead.set : RouteChoice::kNoSet;
      const ChannelId c = routes_.output(at, in, handle, set);
      if (c != kNoChannel) [[likely]] {
        enqueue(c, handle, in);
      } else {
        lose_without_route(in, handle);
      }
    }
  }
  // Fetches what foresee() reads. Always inlined, here and below, because GCC takes a function that only
  // prefetches for one without effect, and drops the call.
  [[gnu::always_inline]] void prefetch_route(NodeId at, PacketHandle handle) const {
    channels_.table->prefetch(at, wires_.pool[handle].destination);
    if (routes_.any_policy()) [[unlikely]]
      routes_.prefetch_policy(at, handle);
  }
  // A packet will soon be at a switch: works out the output, which depends on nothing that may still change,
  // for forward() to find, and fetches its queue. Not where policies choose.
  [[gnu::always_inline]] void foresee(NodeId at, ChannelId in, PacketHandle handle) {
    if (!routes_.is_plain()) return foresee_asked(at, in, handle);
    const ChannelId c = routes_.plain(at, wires_.pool[handle]);
    if (c == kNoChannel) [[unlikely]]
      return;
    Foreseen& foreseen = foreseen_[handle % kForeseen];
    foreseen.handle = handle;
    foreseen.channel = c;
    fetch_output(c, in);
  }
  // The same where policies choose, as far as that can be told ahead.
  [[gnu::noinline]] void foresee_asked(NodeId at, ChannelId in, PacketHandle handle) {
    Foreseen& foreseen = foreseen_[handle % kForeseen];
    foreseen.channel = routes_.ahead(at, in, handle, foreseen.ahead);
    foreseen.handle = handle;
    if (foreseen.channel == kNoChannel) return;
    fetch_output(foreseen.channel, in);
  }
  // The same for a scheduled channel that is to be looked after.
  [[gnu::always_inline]] void foresee_serve(ChannelId c) {
    __builtin_prefetch(&hot_[c], 1);
    __builtin_prefetch(&channels_.cold[c].serve_ps, 1);
    foresee_port(c, channels_.end_ports[opposite(c)]);
  }
  [[gnu::always_inline]] void prefetch_queue(ChannelId c) const { __builtin_prefetch(&hot_[c], 1); }
  // The event of a packet at the end of a channel, before it is forwarded or delivered.
  void note_arrival(ChannelId c, PacketHandle handle) {
    if (wires_.observer != nullptr) [[unlikely]]
      observe_arrival(c, handle);
  }
  // Was the packet of this event on channel `c` when that was cut? Then it is gone.
  bool lost_on_wire(ChannelId c, const Event& event);
  // Routes have changed: forgets what was worked out ahead.
  void forget_foreseen() { foreseen_.fill({}); }
  // Takes in what another partition has sent over a cut link.
  void take_in(Mail& mail);
  // Events of scheduled channels. Both return a channel whose NIC may take a data packet now, or kNoChannel.
  ChannelId serve(ChannelId c) { return scheduled_.serve(c); }
  ChannelId frame_arrived(ChannelId c, std::uint32_t content) { return scheduled_.frame_arrived(c, content); }
  void look(ChannelId c) { scheduled_.look(c); }
  // A packet that waited goes on the wire now (FifoServer).
  void start(ChannelId c, std::uint32_t record) { fifo_.start(c, record); }
  // Events of routing policies, and a view of a switch for them.
  void policy_timer(SwitchId at, std::uint32_t cookie) { routes_.timer(at, cookie); }
  void departed(std::uint32_t record) { routes_.departed(record); }
  routing::OwnSwitch& view(SwitchId at, Time now) { return routes_.view(at, now); }
  // See ScheduledServer, here and below.
  void settle_all(Time now) { scheduled_.settle_all(now); }
  Time settle_watched(Time now) { return scheduled_.settle_watched(now); }
  void settle_in_order() { scheduled_.settle_in_order(); }
  bool observed() const { return wires_.observer != nullptr; }

  const FabricCounters& counters() const { return wires_.counters; }

 private:
  // Outputs worked out ahead. An entry is taken by the very next hop of its packet or overwritten by another
  // packet's, so none is ever old.
  static constexpr std::uint32_t kForeseen = 256;
  struct Foreseen {
    PacketHandle handle = kNoPacket;
    ChannelId channel{0};
    RouteChoice::Ahead ahead;
  };

  // What a packet that comes through `in` will need where it leaves.
  [[gnu::always_inline]] void fetch_output(ChannelId c, ChannelId in) {
    __builtin_prefetch(&hot_[c], 1);
    if (stamps_) [[unlikely]]
      __builtin_prefetch(&channels_.cold[c].rate);
    if (!channels_.buffers.empty()) foresee_port(c, channels_.end_ports[in]);
  }
  // Fetches a port that will soon be used, and the one a packet comes through: its place now, their state
  // some calls later, and so on.
  // Not inlined, so that what comes before it is.
  [[gnu::noinline]] void foresee_port(ChannelId c, PortId in) {
    constexpr std::uint32_t kStep = 4;
    __builtin_prefetch(&channels_.places[c]);
    // Any port of this partition will do; another's may be changing.
    if (ahead_ == 0) [[unlikely]]
      ports_ahead_.fill({c, in});
    ports_ahead_[ahead_ % kPortsAhead] = {c, in};
    fetch_soon(ports_ahead_[(ahead_ - kStep) % kPortsAhead]);
    fetch_sooner(ports_ahead_[(ahead_ - 2 * kStep) % kPortsAhead]);
    fetch_last(ports_ahead_[(ahead_ - 3 * kStep) % kPortsAhead]);
    ++ahead_;
  }
  struct PortAhead {
    ChannelId out{0};
    PortId in{0};
  };
  void fetch_soon(const PortAhead& ahead) const {
    const PortPlace& out = channels_.places[ahead.out];
    __builtin_prefetch(out.memory.port, 1);
    __builtin_prefetch(out.memory.more, 1);
    __builtin_prefetch(out.memory.beside(ahead.in, out.port), 1);
  }
  void fetch_sooner(const PortAhead& ahead) const {
    const PortPlace& out = channels_.places[ahead.out];
    if (out.buffers != nullptr) out.buffers->prefetch_deep(ahead.in, out.port);
  }
  void fetch_last(const PortAhead& ahead) const {
    const PortPlace& out = channels_.places[ahead.out];
    if (out.buffers != nullptr) out.buffers->prefetch_deepest(ahead.in, out.port);
  }
  void enqueue(ChannelId c, PacketHandle handle, ChannelId in) {
    if (hot_[c].flags != 0) [[unlikely]] {
      enqueue_special(c, handle, in);
    } else {
      fifo_.enqueue(c, handle);
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
  // Of wires_, where every hop finds them.
  Engine& engine_;
  Channels& channels_;
  Channel* const hot_;
  const bool stamps_;                         // what a packet's stamp tells of its port is fetched too
  std::array<Foreseen, kForeseen> foreseen_;  // by handle
  static constexpr std::uint32_t kPortsAhead = 16;
  std::array<PortAhead, kPortsAhead> ports_ahead_{};
  std::uint32_t ahead_ = 0;
};

}  // namespace weft::sim::packet
