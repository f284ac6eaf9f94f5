#include "sim/packet/fabric.h"

#include <algorithm>
#include <utility>

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
  if (packet.control()) return;
  ColdChannel& cold = channels_.cold[c];
  if (backlog_ps <= cold.mark_all_above_ps) {
    const double probability =
        cold.mark_slope * static_cast<double>(backlog_ps - channels_.hot[c].mark_above_ps);
    if (cold.random.uniform() >= probability) return;
  }
  set_mark(c, packet);
}

void Fabric::set_mark(std::uint32_t c, Packet& packet) {
  if (packet.marked()) return;  // by an earlier switch
  packet.flags |= kMarked;
  ++channels_.cold[c].marks;
  ++counters_.marks;
}

// What the queues of a node may do.
class Fabric::Node final : public NodeActions {
 public:
  Node(Fabric& fabric, topologies::Vertex at) : fabric_(fabric), at_(at) {}

  Time now() const override { return fabric_.engine_.now(); }
  PacketPool& packets() override { return fabric_.pool_; }
  std::uint32_t bytes(std::uint32_t packet) const override {
    return fabric_.wire_bytes(fabric_.pool_[packet]);
  }
  void drop(std::uint32_t port, std::uint32_t packet) override { fabric_.drop(channel(port), packet); }
  void mark(std::uint32_t port, std::uint32_t packet) override {
    Packet& marked = fabric_.pool_[packet];
    if (!marked.control()) fabric_.set_mark(channel(port), marked);
  }
  void trim(std::uint32_t port, std::uint32_t handle) override {
    Packet& packet = fabric_.pool_[handle];
    const std::uint32_t header = fabric_.channels_.control_bytes;
    FabricCounters& counters = fabric_.counters_;
    ++counters.packets_trimmed;
    counters.bytes_trimmed += packet.bytes_or_cumulative - std::min(header, packet.bytes_or_cumulative);
    packet.bytes_or_cumulative = std::min(header, packet.bytes_or_cumulative);
    packet.flags |= kTrimmed;
    ++fabric_.channels_.cold[channel(port)].trims;
    if (fabric_.observer_ != nullptr)
      fabric_.observer_->on_trim(now(), channel(port), fabric_.sighting(handle));
  }
  void send_back(std::uint32_t, std::uint32_t handle) override {
    Packet& packet = fabric_.pool_[handle];
    packet.flags |= kReturned;
    std::swap(packet.source, packet.destination);
    ++fabric_.counters_.headers_returned;
    fabric_.enqueue(fabric_.choose_channel(at_, packet), handle, kNone);
  }
  void send_frame(std::uint32_t port, std::uint32_t content) override {
    const std::uint32_t c = channel(port);
    const topologies::Channel& wire = fabric_.channels_.topology.channels()[c];
    const Time sending = wire.rate.serialization(fabric_.channels_.control_bytes);
    const Event event{(now() + sending + wire.latency).ps(),
                      fabric_.channels_.cold[c].sequence++,
                      fabric_.channels_.first_entity + c,
                      content,
                      kFrame,
                      0};
    const std::uint32_t to = fabric_.channels_.hot[c].end_partition;
    if (to == fabric_.partition_) {
      fabric_.engine_.insert(event);
    } else {
      fabric_.outbox_.send(to, event, {});
    }
  }
  void wake(std::uint32_t port) override { fabric_.start(channel(port)); }

 private:
  std::uint32_t channel(std::uint32_t port) const {
    return fabric_.channels_.topology.out_channels(at_)[port];
  }

  Fabric& fabric_;
  topologies::Vertex at_;
};

void Fabric::arrive(std::uint32_t c, std::uint32_t handle, std::uint32_t in) {
  const std::uint32_t at = channels_.topology.channels()[c].from;
  if (observer_ != nullptr) observer_->on_enqueue(engine_.now(), c, sighting(handle), Time::max());
  Node node(*this, at);
  channels_.queues[at]->arrive(in == kNone ? NodeQueues::kHere : channels_.cold[in ^ 1].port,
                               channels_.cold[c].port, handle, node);
  start(c);
  note_backlog(c);
}

// How long what waits and what is being sent takes: for reports, and for policies that compare ports.
void Fabric::note_backlog(std::uint32_t c) {
  Channel& channel = channels_.hot[c];
  const std::uint64_t waiting = queues_of(c).backlog_bytes(channels_.cold[c].port);
  const std::int64_t empty_ps =
      std::max(channel.free_at_ps, engine_.now().ps()) + channels_.cold[c].rate.serialization(waiting).ps();
  channel.max_backlog_ps = std::max(channel.max_backlog_ps, empty_ps - engine_.now().ps());
  if (!channels_.free_at_ps.empty()) channels_.free_at_ps[c] = empty_ps;
}

void Fabric::start(std::uint32_t c) {
  ColdChannel& cold = channels_.cold[c];
  if (cold.busy) return;
  Node node(*this, channels_.topology.channels()[c].from);
  const std::uint32_t handle = queues_of(c).next(cold.port, node);
  if (handle == kNone) return;
  Channel& channel = channels_.hot[c];
  const std::uint32_t bytes = wire_bytes(pool_[handle]);
  const std::int64_t departure = engine_.now().ps() + channels_.serialization_ps(c, channel, bytes);
  cold.busy = true;
  channel.free_at_ps = departure;
  channel.bytes += bytes;
  ++channel.packets;
  if (observer_ != nullptr) observer_->on_transmit(engine_.now(), c, sighting(handle), Time::ps(departure));
  const EntityId entity = channels_.first_entity + c;
  engine_.schedule_counted(Time::ps(departure), entity, cold.sequence++, kSent, c);
  put_on_wire(channel, {departure + channel.delay_ps, cold.sequence++, entity, handle, kHop, 0});
}

std::uint32_t Fabric::sent(std::uint32_t c) {
  ColdChannel& cold = channels_.cold[c];
  cold.busy = false;
  Node node(*this, channels_.topology.channels()[c].from);
  queues_of(c).departed(cold.port, node);
  start(c);
  return ready_nic(c);
}

std::uint32_t Fabric::frame_arrived(std::uint32_t c, std::uint32_t content) {
  const std::uint32_t back = c ^ 1;
  Node node(*this, channels_.topology.channels()[back].from);
  queues_of(back).frame(channels_.cold[back].port, content, node);
  return ready_nic(back);
}

Sighting Fabric::sighting(std::uint32_t handle) {
  const Packet& packet = pool_[handle];
  return {.handle = handle,
          .flow = packet.flow,
          .number = packet.number,
          .bytes = wire_bytes(packet),
          .ack = packet.ack(),
          .marked = packet.marked(),
          .trimmed = packet.trimmed(),
          .source = packet.source,
          .destination = packet.destination,
          .flow_number = packet.flow_number,
          .entropy = packet.entropy};
}

}  // namespace weft::sim::packet
