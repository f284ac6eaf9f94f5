#include "sim/packet/policy_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "sim/routing/path_draws.h"

namespace weft::sim::packet {

std::uint32_t PolicyView::ports() const {
  return static_cast<std::uint32_t>(channels_.topology.out_channels(at_).size());
}

Time PolicyView::backlog(std::uint32_t p) {
  const PortId port{p};
  const ChannelId c = channel(port);
  if (channels_.hot[c].flags & kScheduled) switches_.scheduled.settle_until(c, now_);
  return Time::ps(settled_backlog_ps(c, port));
}

bool PolicyView::held(std::uint32_t p) {
  const PortId port{p};
  const ChannelId c = channel(port);
  if (channels_.hot[c].flags & kDown) return true;
  if (!(channels_.hot[c].flags & kScheduled)) return false;
  switches_.scheduled.settle_until(c, now_);
  return channels_.queues[at_]->held(port, now_);
}

std::uint32_t PolicyView::least_loaded(std::span<const std::uint32_t> ports) {
  // Ports with the least load so far, up to what one draw is to decide among.
  constexpr std::size_t kMost = 256;
  std::array<std::uint32_t, kMost> best;
  std::size_t equals = 0;
  std::int64_t least_ps = INT64_MAX;
  for (const std::uint32_t port : ports) {
    const std::int64_t load_ps = this->load_ps(PortId(port));
    if (load_ps < least_ps) equals = 0;
    if (load_ps > least_ps || equals == kMost) continue;
    least_ps = load_ps;
    best[equals++] = port;
  }
  return equals == 1 ? best[0] : best[random().below(equals)];
}

bool PolicyView::is_up(std::uint32_t port) const {
  return !(channels_.hot[channel(PortId(port))].flags & kDown);
}

bool PolicyView::to_host(std::uint32_t port) const { return channels_.ends[channel(PortId(port))].is_host(); }

std::span<const std::uint32_t> PolicyView::minimal(std::uint32_t host) {
  switches_.list_turn ^= 1;
  const auto room = [this]() -> std::vector<std::uint32_t>& { return switches_.lists[switches_.list_turn]; };
  return switches_.ways.towards(at_, host, MinimalWays::kNoSet, room).ports;
}

void PolicyView::set_timer(Time when, std::uint32_t cookie) {
  SwitchPolicies& policies = switches_.policies;
  if (when < now_) {
    policies.fail_at(channels_.topology.node(at_).name,
                     fmt::format("it set a timer for {} ns, but it is {} ns already", to_ns_string(when),
                                 to_ns_string(now_)));
  }
  const std::uint32_t sequence = policies.site(index()).timers++;
  switches_.wires.engine.schedule_counted(when, policies.entity(index()), sequence, kPolicyTimer, cookie);
}

// REQUIRES: what a queue does is worked out until now.
std::int64_t PolicyView::settled_backlog_ps(ChannelId c, PortId port) const {
  const Channel& state = channels_.hot[c];
  std::int64_t waiting_ps = 0;
  if (state.flags & kScheduled) {
    waiting_ps = channels_.long_serialization_ps(c, state, channels_.queues[at_]->backlog_bytes(port));
  }
  return std::max<std::int64_t>(state.free_at_ps - now_.ps(), 0) + waiting_ps;
}

// The backlog of a port, or the most there is if it is held.
std::int64_t PolicyView::load_ps(PortId port) {
  const ChannelId c = channel(port);
  const Channel& state = channels_.hot[c];
  if (state.flags & kDown) return INT64_MAX;
  if (state.flags & kScheduled) {
    switches_.scheduled.settle_until(c, now_);
    if (channels_.queues[at_]->held(port, now_)) return INT64_MAX;
  }
  return settled_backlog_ps(c, port);
}

void PolicyView::tell_source(const routing::FlowRef& flow, PacketKind kind) {
  Wires& wires = switches_.wires;
  const PacketHandle handle = wires.pool.acquire();
  Packet packet;
  packet.sent_ps = now_.ps();
  packet.flow = flow.receive_slot;
  packet.entropy =
      static_cast<std::uint32_t>(routing::flow_draws(wires.engine.seed(), flow.identity()).next());
  packet.destination = flow.sender;
  packet.source = flow.receiver;
  packet.flow_number = flow.number;
  packet.bytes = channels_.control_bytes;
  packet.kind = kind;
  wires.pool[handle] = packet;
  switches_.trails.begin(handle);
  ++wires.counters.packets_injected;
  wires.counters.bytes_injected += packet.bytes;
  if (wires.observer != nullptr) wires.observer->on_inject(now_, wires.sighting(handle));
  switches_.forwarding.send_from(at_, handle, channel(PortId(0)));
}

}  // namespace weft::sim::packet
