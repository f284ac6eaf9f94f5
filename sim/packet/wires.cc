#include "sim/packet/wires.h"

#include <cmath>

namespace weft::sim::packet {

FabricCounters& FabricCounters::operator+=(const FabricCounters& other) {
  packets_injected += other.packets_injected;
  bytes_injected += other.bytes_injected;
  packets_delivered += other.packets_delivered;
  bytes_delivered += other.bytes_delivered;
  packets_dropped += other.packets_dropped;
  bytes_dropped += other.bytes_dropped;
  packets_trimmed += other.packets_trimmed;
  bytes_trimmed += other.bytes_trimmed;
  headers_returned += other.headers_returned;
  corrupted += other.corrupted;
  lost_to_down_links += other.lost_to_down_links;
  without_route += other.without_route;
  detours += other.detours;
  marks += other.marks;
  data_delivered += other.data_delivered;
  return *this;
}

void Wires::mail(std::uint32_t to, std::int64_t time_ps, std::uint32_t sequence, EntityId source,
                 PacketHandle packet) {
  outbox.send(to, {time_ps, sequence, source, packet, kHop, 0}, pool[packet], pool, packet);
  pool.release(packet);
}

bool Wires::fails_on_wire(ChannelId c, std::uint32_t bytes) {
  if (hot[c].flags & kDown) {
    ++counters.lost_to_down_links;
    return true;
  }
  if (!(hot[c].flags & kErrors)) return false;
  ColdChannel& cold = channels.cold[c];
  const double all_right = (1 - cold.loss) * std::exp(8.0 * bytes * std::log1p(-cold.bit_error_rate));
  if (cold.errors.uniform() < all_right) return false;
  ++counters.corrupted;
  return true;
}

void Wires::drop(ChannelId c, PacketHandle handle, Time now) {
  ++channels.cold[c].drops;
  if (hot[c].flags & kReports) listener->dropped(c, handle);
  lose(c, handle, now);
}

void Wires::lose(ChannelId c, PacketHandle handle, Time now) {
  ++counters.packets_dropped;
  counters.bytes_dropped += pool[handle].bytes;
  if (observer != nullptr) observer->on_drop(now, c, sighting(handle));
  pool.release(handle);
}

void Wires::set_mark(ChannelId c, Packet& packet) {
  if (packet.marked()) return;  // by an earlier switch
  packet.set(kMarked);
  ++channels.cold[c].marks;
  ++counters.marks;
}

void Wires::stamp(ChannelId c, PacketHandle handle, std::int64_t start_ps, std::uint64_t queue_bytes,
                  std::uint64_t sent_bytes) {
  pool.telemetry().add(handle, {.at = Time::ps(start_ps),
                                .queue_bytes = queue_bytes,
                                .sent_bytes = sent_bytes,
                                .rate = channels.cold[c].rate,
                                .port = c});
}

Sighting Wires::sighting(PacketHandle handle) const {
  const Packet& packet = pool[handle];
  return {.handle = handle,
          .flow = packet.flow,
          .number = packet.number,
          .bytes = packet.bytes,
          .ack = !packet.data(),
          .marked = packet.marked(),
          .trimmed = packet.trimmed() || packet.kind == PacketKind::kNack,
          .returned = packet.returned(),
          .source = channels.host_of(packet.source),
          .destination = channels.host_of(packet.destination),
          .flow_number = packet.flow_number,
          .entropy = packet.entropy};
}

}  // namespace weft::sim::packet
