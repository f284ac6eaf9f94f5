#include "sim/packet/fabric.h"

namespace weft::sim::packet {

FabricCounters& FabricCounters::operator+=(const FabricCounters& other) {
  packets_injected += other.packets_injected;
  bytes_injected += other.bytes_injected;
  packets_delivered += other.packets_delivered;
  bytes_delivered += other.bytes_delivered;
  packets_dropped += other.packets_dropped;
  bytes_dropped += other.bytes_dropped;
  marks += other.marks;
  return *this;
}

std::uint32_t Fabric::ask_policy(topologies::Vertex at, const Packet& packet,
                                 std::span<const std::uint32_t> candidates) {
  const std::uint32_t index = channels_.topology.node(at).index;
  const std::uint32_t sender = packet.ack() ? packet.destination : packet.source;  // of the flow's data
  const routing::PacketView view{.source = packet.source,
                                 .destination = packet.destination,
                                 .flow = std::uint64_t{sender} << 32 | packet.flow_number,
                                 .entropy = packet.entropy,
                                 .bytes = wire_bytes(packet),
                                 .control = packet.ack()};
  const routing::SwitchView here{.switch_index = index,
                                 .salt = channels_.salts[at],
                                 .now = engine_.now(),
                                 .channel_free_at_ps = channels_.free_at_ps.data()};
  return channels_.policies[index]->choose(view, candidates, here);
}

void Fabric::drop(std::uint32_t c, std::uint32_t handle) {
  ++channels_.cold[c].drops;
  ++counters_.packets_dropped;
  counters_.bytes_dropped += wire_bytes(pool_[handle]);
  if (observer_ != nullptr) observer_->on_drop(engine_.now(), c, sighting(handle));
  pool_.release(handle);
}

void Fabric::mark(std::uint32_t c, Packet& packet, std::int64_t backlog_ps) {
  if (packet.ack()) return;
  ColdChannel& cold = channels_.cold[c];
  if (backlog_ps <= cold.mark_all_above_ps) {
    const double probability =
        cold.mark_slope * static_cast<double>(backlog_ps - channels_.hot[c].mark_above_ps);
    if (cold.random.uniform() >= probability) return;
  }
  if (packet.marked()) return;  // by an earlier switch
  packet.flags |= kMarked;
  ++cold.marks;
  ++counters_.marks;
}

Sighting Fabric::sighting(std::uint32_t handle) {
  const Packet& packet = pool_[handle];
  return {.handle = handle,
          .flow = packet.flow,
          .number = packet.number,
          .bytes = wire_bytes(packet),
          .ack = packet.ack(),
          .marked = packet.marked(),
          .source = packet.source,
          .destination = packet.destination,
          .flow_number = packet.flow_number,
          .entropy = packet.entropy};
}

}  // namespace weft::sim::packet
