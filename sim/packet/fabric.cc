#include "sim/packet/fabric.h"

namespace weft::sim::packet {

void Fabric::enqueue_special(std::uint32_t c, std::uint32_t handle, std::uint32_t in) {
  // A switch knows of its own links at once, and takes one of the others that lead there.
  if (hot_[c].flags & kDown) [[unlikely]]
    c = routes_.detour(c, handle);
  if (hot_[c].flags & kScheduled) {
    scheduled_.arrive(c, handle, in);
  } else {
    fifo_.enqueue_special(c, handle, in);
  }
}

void Fabric::send_from(topologies::Vertex at, std::uint32_t handle, std::uint32_t seen_at) {
  const std::uint32_t c = routes_.output(at, kNone, handle);
  if (c != kNone) {
    enqueue(c, handle, kNone);
  } else {
    ++wires_.counters.without_route;
    wires_.lose(seen_at, handle, engine_.now());
  }
}

bool Fabric::lost_on_wire(std::uint32_t c, const Event& event) {
  if (event.sequence >= channels_.cold[c].lost_before) return false;
  scheduled_.lost_on_wire(c, event.payload);
  ++wires_.counters.lost_to_down_links;
  ++channels_.cold[c ^ 1].lost_coming_in;
  wires_.lose(c, event.payload, engine_.now());
  return true;
}

void Fabric::observe_arrival(std::uint32_t c, std::uint32_t handle) {
  scheduled_.settle_in_order();
  wires_.observer->on_arrive(engine_.now(), c, wires_.sighting(handle));
}

void Fabric::take_in(Mail& mail) {
  PacketPool& pool = wires_.pool;
  for (Arrival& arrival : mail.arrivals) {
    if (arrival.event.kind == kHop) [[likely]] {
      arrival.event.payload = pool.acquire();
      pool[arrival.event.payload] = arrival.packet;
      pool.acks().set(arrival.event.payload, {});
      pool.credits().set(arrival.event.payload, 0);
      pool.notes().set(arrival.event.payload, {});
      pool.trails().set(arrival.event.payload, {});
      pool.telemetry().clear(arrival.event.payload);
    }
    engine_.insert(arrival.event);
  }
  for (const auto& [position, ack] : mail.acks) {
    pool.acks().set(mail.arrivals[position].event.payload, ack);
  }
  for (const auto& [position, credit] : mail.credits) {
    pool.credits().set(mail.arrivals[position].event.payload, credit);
  }
  for (const auto& [position, note] : mail.notes) {
    pool.notes().set(mail.arrivals[position].event.payload, note);
  }
  for (const auto& [position, trail] : mail.trails) {
    pool.trails().set(mail.arrivals[position].event.payload, trail);
  }
  for (const auto& [position, route] : mail.routes) {
    pool.routes().set(mail.arrivals[position].event.payload, route);
  }
  for (const auto& [position, stamp] : mail.telemetry) {
    pool.telemetry().add(mail.arrivals[position].event.payload, stamp);
  }
  for (const RoomReturn& back : mail.rooms) scheduled_.take_in(back);
}

}  // namespace weft::sim::packet
