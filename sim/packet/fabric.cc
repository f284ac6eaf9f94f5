#include "sim/packet/fabric.h"

namespace weft::sim::packet {

void Fabric::enqueue_special(ChannelId c, PacketHandle handle, ChannelId in) {
  // A switch knows of its own links at once, and takes one of the others that lead there.
  if (hot_[c].flags & kDown) [[unlikely]]
    c = routes_.detour(c, handle);
  if (hot_[c].flags & kScheduled) {
    scheduled_.arrive(c, handle, in);
  } else {
    fifo_.enqueue_special(c, handle, in);
  }
}

void Fabric::send_from(NodeId at, PacketHandle handle, ChannelId seen_at) {
  const ChannelId c = routes_.output(at, kNoChannel, handle);
  if (c != kNoChannel) {
    enqueue(c, handle, kNoChannel);
  } else {
    ++wires_.counters.without_route;
    wires_.lose(seen_at, handle, engine_.now());
  }
}

// The room that was kept for it here is free again.
void Fabric::lose_without_route(ChannelId in, PacketHandle handle) {
  ++wires_.counters.without_route;
  scheduled_.lost_on_wire(in, handle);
  wires_.lose(in, handle, engine_.now());
}

bool Fabric::lost_on_wire(ChannelId c, const Event& event) {
  if (event.sequence >= channels_.cold[c].lost_before) return false;
  const PacketHandle handle{event.payload};
  scheduled_.lost_on_wire(c, handle);
  ++wires_.counters.lost_to_down_links;
  ++channels_.cold[opposite(c)].lost_coming_in;
  wires_.lose(c, handle, engine_.now());
  return true;
}

void Fabric::observe_arrival(ChannelId c, PacketHandle handle) {
  scheduled_.settle_in_order();
  wires_.observer->on_arrive(engine_.now(), c, wires_.sighting(handle));
}

void Fabric::take_in(Mail& mail) {
  constexpr std::size_t kAhead = 8;
  PacketPool& pool = wires_.pool;
  for (Arrival& arrival : mail.arrivals) {
    pool.prefetch_unused(kAhead);
    __builtin_prefetch(&arrival + kAhead, 1);
    if (arrival.event.kind == kHop) [[likely]] {
      const PacketHandle handle = pool.acquire();
      arrival.event.payload = handle;
      pool[handle] = arrival.packet;
      if (!arrival.packet.data()) pool.acks().set(handle, {});
      pool.credits().set(handle, 0);
      pool.notes().set(handle, {});
      pool.trails().set(handle, {});
      pool.telemetry().clear(handle);
    }
    engine_.insert(arrival.event);
  }
  const auto handle_at = [&](std::uint32_t position) {
    return PacketHandle(mail.arrivals[position].event.payload);
  };
  for (const auto& [position, ack] : mail.acks) {
    pool.acks().set(handle_at(position), ack);
  }
  for (const auto& [position, credit] : mail.credits) {
    pool.credits().set(handle_at(position), credit);
  }
  for (const auto& [position, note] : mail.notes) {
    pool.notes().set(handle_at(position), note);
  }
  for (const auto& [position, trail] : mail.trails) {
    pool.trails().set(handle_at(position), trail);
  }
  for (const auto& [position, route] : mail.routes) {
    pool.routes().set(handle_at(position), route);
  }
  for (const auto& [position, stamp] : mail.telemetry) {
    pool.telemetry().add(handle_at(position), stamp);
  }
  for (const RoomReturn& back : mail.rooms) scheduled_.take_in(back);
}

}  // namespace weft::sim::packet
