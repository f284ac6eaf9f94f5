// What the next events will touch, fetched into the cache before they are handled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "congestion/recovery.h"
#include "sim/core/engine.h"
#include "sim/packet/channels.h"
#include "sim/packet/connections.h"
#include "sim/packet/fabric.h"
#include "sim/packet/packet.h"
#include "sim/packet/receiving_side.h"
#include "sim/packet/route_choice.h"
#include "sim/packet/switch_policies.h"
#include "sim/packet/transport.h"

namespace weft::sim::packet {

// One partition's. A hop reads the packet; then what the packet names, the flow or an entry of the routing
// table; then what is found there. What follows from nothing that may still change, the output at a switch,
// is worked out on the way, for Fabric::forward() to find. Results depend on none of this.
// Always inlined, because GCC takes a function that only prefetches for one without effect, and drops the
// call.
class LookAhead {
 public:
  LookAhead(Fabric& fabric, const Transport& transport, const Channels& channels)
      : pool_(fabric.packets()),
        routes_(fabric.routes()),
        connections_(transport.connections()),
        receiving_(transport.receiving()),
        hosts_(transport.hosts()),
        slot_bytes_(transport.setup().slot_bytes),
        takes_time_(transport.setup().config.takes_time_in_host()),
        channels_(channels),
        hot_(channels.hot.data()),
        stamps_(channels.stamps()) {}
  LookAhead(const LookAhead&) = delete;
  LookAhead& operator=(const LookAhead&) = delete;

  // Do hosts take packets in at once, and are no records kept beside ACKs?
  bool is_simple() const { return !takes_time_ && !pool_.acks().kept(); }
  // Has the engine handle its events before `limit`, and looks ahead of it. `kSimple`: this is_simple(), and
  // that of the fabric. What only fetches has to be inlined, lambdas too, see above.
  template <bool kSimple, typename Handle>
  void run_before(Engine& engine, Time limit, std::uint64_t most, const Handle& handle) {
    if constexpr (kSimple) {
      run_simple_before(engine, limit, most, handle);
    } else {
      run_any_before(engine, limit, most, handle);
    }
  }

  // What was found out of a packet that is at a switch now; null: nothing. Good until the next event.
  const Foreseen* take(PacketHandle handle) {
    Foreseen& foreseen = foreseen_[handle % kForeseen];
    if (foreseen.handle != handle) return nullptr;
    foreseen.handle = kNoPacket;
    return &foreseen;
  }
  // Routes have changed: what was worked out is void.
  void forget() { foreseen_.fill({}); }

 private:
  // Outputs worked out ahead. An entry is taken by the very next hop of its packet or overwritten by another
  // packet's, so none is ever old.
  static constexpr std::uint32_t kForeseen = 256;
  struct PortAhead {
    ChannelId out{0};
    PortId in{0};
  };

  template <typename Handle>
  [[gnu::noinline]] void run_simple_before(Engine& engine, Time limit, std::uint64_t most,
                                           const Handle& handle) {
    const ChannelEnd* const ends = channels_.ends.data();
    const EntityId first = channels_.first_entity;
    const auto far = [this](const Event& event) __attribute__((always_inline)) {
      if (event.kind == kHop) [[likely]] {
        pool_.prefetch(PacketHandle(event.payload));
      } else if (event.kind == kNicReady) {
        fetch_nic(NicId(event.payload));
      }
    };
    const auto middle = [ this, ends, first ](const Event& event) __attribute__((always_inline)) {
      if (event.kind != kHop) [[unlikely]] {
        if (event.kind == kNicReady) fetch_waiting(NicId(event.payload));
        return;
      }
      const ChannelEnd end = ends[event.source - first];
      if (end.is_host()) {
        fetch_flow(pool_[PacketHandle(event.payload)]);
      } else {
        channels_.table->prefetch(end.node(), pool_[PacketHandle(event.payload)].destination);
      }
    };
    const auto near = [ this, ends, first ](const Event& event) __attribute__((always_inline)) {
      if (event.kind != kHop) [[unlikely]] {
        if (event.kind == kNicReady) fetch_state_of_waiting(NicId(event.payload));
        return;
      }
      const PacketHandle handle{event.payload};
      const ChannelEnd end = ends[event.source - first];
      if (end.is_host()) {
        fetch_state(pool_[handle]);
        return;
      }
      const ChannelId c = routes_.plain(end.node(), pool_[handle]);
      if (c == kNoChannel) [[unlikely]]
        return;
      foresee_plain(handle, c);
      __builtin_prefetch(&hot_[c], 1);
    };
    engine.run_before(limit, most, handle, far, middle, near);
  }

  template <typename Handle>
  [[gnu::noinline]] void run_any_before(Engine& engine, Time limit, std::uint64_t most,
                                        const Handle& handle) {
    const ChannelEnd* const ends = channels_.ends.data();
    const EntityId first = channels_.first_entity;
    const bool has_ways = pool_.keeps_records();
    // What stands beside an ACK is read where it goes to another partition.
    const bool mails_answers = channels_.partition.parts > 1 && pool_.acks().kept();
    // Where a host's NIC takes time, a packet's connection is touched when that has passed: kReceive.
    const bool is_taken_later = takes_time_;
    const auto far = [ this, has_ways ](const Event& event) __attribute__((always_inline)) {
      if (event.kind != kHop && event.kind != kReceive) {
        if (event.kind == kNicReady) fetch_nic(NicId(event.payload));
        return;
      }
      pool_.prefetch(PacketHandle(event.payload));
      if (has_ways) pool_.prefetch_ways(PacketHandle(event.payload));
    };
    const auto middle = [ this, ends, first, has_ways, is_taken_later, mails_answers ](const Event& event)
        __attribute__((always_inline)) {
      if (event.kind == kReceive) return fetch_arrived(PacketHandle(event.payload), has_ways);
      if (event.kind == kNicReady) return fetch_waiting(NicId(event.payload));
      if (event.kind != kHop) return;
      const ChannelEnd end = ends[event.source - first];
      if (end.is_host()) {
        if (!is_taken_later) fetch_arrived(PacketHandle(event.payload), has_ways);
      } else {
        if (has_ways) pool_.telemetry().prefetch_next(PacketHandle(event.payload));
        if (mails_answers && !pool_[PacketHandle(event.payload)].data()) {
          pool_.acks().prefetch(PacketHandle(event.payload));
        }
        fetch_route(end.node(), PacketHandle(event.payload));
      }
    };
    const auto near = [this, ends, first, is_taken_later](const Event& event) {
      if (event.kind != kHop) {
        if (event.kind == kReceive) fetch_state(pool_[PacketHandle(event.payload)]);
        if (event.kind == kNicReady) fetch_state_of_waiting(NicId(event.payload));
        if (event.kind == kServe) foresee_serve(ChannelId(event.payload));
        if (event.kind == kFrame) foresee_serve(opposite(ChannelId(event.source - first)));
        return;
      }
      const ChannelEnd end = ends[event.source - first];
      if (end.is_host()) {
        if (!is_taken_later) fetch_state(pool_[PacketHandle(event.payload)]);
      } else {
        foresee(end.node(), ChannelId(event.source - first), PacketHandle(event.payload));
      }
    };
    engine.run_before(limit, most, handle, far, middle, near);
  }

  // Packets at their hosts: the connection that they are for, and then what it names.
  [[gnu::always_inline]] void fetch_arrived(PacketHandle handle, bool has_ways) const {
    fetch_flow(pool_[handle]);
    pool_.acks().prefetch(handle);
    if (has_ways) pool_.telemetry().prefetch_all(handle);
  }
  [[gnu::always_inline]] void fetch_flow(const Packet& packet) const {
    if (packet.from_switch()) [[unlikely]]
      return;
    if (!packet.data()) {
      fetch_sender(SlotId(packet.flow));
    } else if (!packet.returned()) [[likely]] {
      __builtin_prefetch(&receiving_.connection_of(packet), 1);
    }
  }
  [[gnu::always_inline]] void fetch_state(const Packet& packet) const {
    if (packet.from_switch()) [[unlikely]]
      return;
    if (!packet.data()) {
      fetch_state_of_sender(SlotId(packet.flow), packet.number);
    } else if (!packet.returned()) [[likely]] {
      const ReceivingSide::Connection& connection = receiving_.connection_of(packet);
      connection.arrivals.prefetch(packet.number);
      receiving_.prefetch_message(connection);
      __builtin_prefetch(&hot_[connection.reply_channel], 1);
    }
  }
  [[gnu::always_inline]] void fetch_sender(SlotId slot) const {
    if (slot == kNoSlot) [[unlikely]]
      return;
    const auto* connection = reinterpret_cast<const char*>(&connections_[slot]);
    __builtin_prefetch(connection, 1);
    __builtin_prefetch(connection + 64, 1);
    const std::byte* state = connections_.state(slot);
    for (std::size_t byte = 0; byte < slot_bytes_; byte += 64) __builtin_prefetch(state + byte, 1);
    if (connections_.keeps_paths()) __builtin_prefetch(&connections_.cold(slot).paths);
  }
  [[gnu::always_inline]] void fetch_state_of_sender(SlotId slot, std::uint32_t number) const {
    if (slot == kNoSlot) [[unlikely]]
      return;
    const Connection& connection = connections_[slot];
    __builtin_prefetch(connection.selector, 1);
    const auto& ring = connections_.cold(slot).paths;
    const bool has_ring = connections_.keeps_paths() && !ring.empty();
    if (has_ring) __builtin_prefetch(&ring[number & (ring.size() - 1)]);
    if (connection.recovery != nullptr) {
      connection.recovery->prefetch(number);
      connection.recovery->prefetch(connection.recovery->first_unacked());
      connection.recovery->prefetch(connection.recovery->next_new());
      if (has_ring) __builtin_prefetch(&ring[connection.recovery->next_new() & (ring.size() - 1)], 1);
    }
    __builtin_prefetch(&hosts_.nics[connection.nic], 1);
  }

  // A NIC that takes a packet from the next of its connections that wait; that connection; and what it names.
  [[gnu::always_inline]] void fetch_nic(NicId nic) const { __builtin_prefetch(&hosts_.nics[nic], 1); }
  [[gnu::always_inline]] void fetch_waiting(NicId nic) const { fetch_sender(hosts_.nics[nic].first_waiting); }
  [[gnu::always_inline]] void fetch_state_of_waiting(NicId nic) const {
    const SlotId slot = hosts_.nics[nic].first_waiting;
    if (slot == kNoSlot || connections_[slot].recovery == nullptr) return;
    fetch_state_of_sender(slot, connections_[slot].recovery->next_new());
  }

  // Packets at a switch: the entry of the table, and the policy with what it will look up first.
  [[gnu::always_inline]] void fetch_route(NodeId at, PacketHandle handle) const {
    channels_.table->prefetch(at, pool_[handle].destination);
    if (routes_.any_policy()) [[unlikely]]
      fetch_policy(at, handle);
  }
  [[gnu::always_inline]] void fetch_policy(NodeId at, PacketHandle handle) const {
    const SwitchPolicies& policies = routes_.policies();
    const auto* const policy = reinterpret_cast<const char*>(&policies.policy_at(at));
    __builtin_prefetch(policy);
    __builtin_prefetch(policy + 64);
    if (policies.lookup().table != nullptr) {
      __builtin_prefetch(policies.looked_up(at, pool_[handle].destination));
      const routing::RouteNote* const note = pool_.notes().find(handle);
      if (policies.lookup().by_via && note != nullptr && note->via != routing::RouteNote::kNowhere) {
        __builtin_prefetch(policies.looked_up(at, note->via));
      }
    }
    __builtin_prefetch(routes_.ways().exits_of(at));
  }
  // Works out the output, and fetches its queue. Not where policies choose.
  [[gnu::always_inline]] void foresee(NodeId at, ChannelId in, PacketHandle handle) {
    if (!routes_.is_plain()) return foresee_asked(at, in, handle);
    const ChannelId c = routes_.plain(at, pool_[handle]);
    if (c == kNoChannel) [[unlikely]]
      return;
    foresee_plain(handle, c);
    fetch_output(c, in);
  }
  [[gnu::always_inline]] void foresee_plain(PacketHandle handle, ChannelId c) {
    Foreseen& foreseen = foreseen_[handle % kForeseen];
    foreseen.handle = handle;
    foreseen.channel = c;
  }
  // Works out the output where policies choose, as far as that can be told ahead, and fetches its queue.
  [[gnu::noinline]] void foresee_asked(NodeId at, ChannelId in, PacketHandle handle) {
    Foreseen& foreseen = foreseen_[handle % kForeseen];
    foreseen.channel = routes_.ahead(at, in, handle, foreseen.ahead);
    foreseen.handle = handle;
    if (foreseen.channel == kNoChannel) return;
    fetch_output(foreseen.channel, in);
  }
  // A scheduled channel that is to be looked after.
  [[gnu::always_inline]] void foresee_serve(ChannelId c) {
    __builtin_prefetch(&hot_[c], 1);
    __builtin_prefetch(&channels_.cold[c].serve_ps, 1);
    foresee_port(c, channels_.end_ports[opposite(c)]);
  }
  // What a packet that comes through `in` will need where it leaves. What its stamp tells of the port, too.
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

  PacketPool& pool_;
  RouteChoice& routes_;
  const Connections& connections_;
  const ReceivingSide& receiving_;
  const Hosts& hosts_;
  const std::size_t slot_bytes_;
  const bool takes_time_;  // a packet at its host, before it is received
  const Channels& channels_;
  const Channel* const hot_;
  const bool stamps_;
  std::array<Foreseen, kForeseen> foreseen_;  // by handle
  static constexpr std::uint32_t kPortsAhead = 16;
  std::array<PortAhead, kPortsAhead> ports_ahead_{};
  std::uint32_t ahead_ = 0;
};

}  // namespace weft::sim::packet
