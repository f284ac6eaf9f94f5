#include "sim/packet/fabric.h"

#include <vector>

namespace weft::sim::packet {

std::uint32_t Fabric::ask_policy(topologies::Vertex at, const Packet& packet,
                                 std::span<const std::uint32_t> candidates) {
  const std::uint32_t index = channels_.topology.node(at).index;
  const routing::PacketView view{.source = packet.source,
                                 .destination = packet.destination,
                                 .flow = std::uint64_t{packet.sender()} << 32 | packet.flow_number,
                                 .entropy = packet.entropy,
                                 .bytes = packet.bytes,
                                 .control = packet.control()};
  const routing::SwitchView here{.switch_index = index,
                                 .salt = channels_.salts[at],
                                 .now = engine_.now(),
                                 .channel_free_at_ps = channels_.free_at_ps.data()};
  return channels_.policies[index]->choose(view, candidates, here);
}

std::uint32_t Fabric::choose_among(topologies::Vertex at, const Packet& packet,
                                   std::span<const std::uint32_t> candidates) {
  if (candidates.size() <= 1) return candidates.empty() ? kNone : candidates.front();
  if (!channels_.policies.empty()) return candidates[ask_policy(at, packet, candidates)];
  return candidates[routing::hash_choice(packet.entropy, channels_.salts[at], candidates.size())];
}

void Fabric::enqueue_special(std::uint32_t c, std::uint32_t handle, std::uint32_t in) {
  if (hot_[c].flags & kDown) [[unlikely]]
    c = detour(c, wires_.pool[handle]);
  if (hot_[c].flags & kScheduled) {
    scheduled_.arrive(c, handle, in);
  } else {
    fifo_.enqueue_special(c, handle, in);
  }
}

// A switch knows of its own links at once, and takes one of the others that lead there, if there is one.
std::uint32_t Fabric::detour(std::uint32_t c, const Packet& packet) {
  if (channels_.ends[c ^ 1] & kHostBit) return c;
  const topologies::Vertex at = channels_.places[c].vertex;
  std::vector<std::uint32_t> left;
  for (const std::uint32_t other : channels_.table->candidates(at, packet.destination)) {
    if (!(hot_[other].flags & kDown)) left.push_back(other);
  }
  const std::uint32_t other = choose_among(at, packet, left);
  if (other == kNone) return c;
  ++wires_.counters.detours;
  return other;
}

void Fabric::send_from(topologies::Vertex at, std::uint32_t handle, std::uint32_t seen_at) {
  const std::uint32_t c = choose_channel(at, wires_.pool[handle]);
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
    }
    engine_.insert(arrival.event);
  }
  for (const auto& [position, ack] : mail.acks) {
    pool.acks().set(mail.arrivals[position].event.payload, ack);
  }
  for (const auto& [position, credit] : mail.credits) {
    pool.credits().set(mail.arrivals[position].event.payload, credit);
  }
  for (const RoomReturn& back : mail.rooms) scheduled_.take_in(back);
}

}  // namespace weft::sim::packet
