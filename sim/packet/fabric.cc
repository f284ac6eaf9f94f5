#include "sim/packet/fabric.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

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
  return *this;
}

std::uint32_t Fabric::ask_policy(topologies::Vertex at, const Packet& packet,
                                 std::span<const std::uint32_t> candidates) {
  const std::uint32_t index = channels_.topology.node(at).index;
  const routing::PacketView view{.source = packet.source,
                                 .destination = packet.destination,
                                 .flow = std::uint64_t{packet.sender()} << 32 | packet.flow_number,
                                 .entropy = packet.entropy,
                                 .bytes = wire_bytes(packet),
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

std::uint32_t Fabric::choose_among_all(topologies::Vertex at, const Packet& packet) {
  const routing::Candidates candidates = channels_.table->candidates(at, packet.destination);
  return choose_among(at, packet, candidates);
}

void Fabric::enqueue_special(std::uint32_t c, std::uint32_t handle, std::uint32_t in) {
  const std::uint32_t at = channels_.topology.channels()[c].from;
  if ((channels_.hot[c].flags & kDown) && !(channels_.ends[c ^ 1] & kHostBit)) {
    // The switch knows of its own links at once, and takes one of the others that lead there.
    std::vector<std::uint32_t> left;
    for (const std::uint32_t other : channels_.table->candidates(at, pool_[handle].destination)) {
      if (!(channels_.hot[other].flags & kDown)) left.push_back(other);
    }
    const std::uint32_t detour = choose_among(at, pool_[handle], left);
    if (detour != kNone) {
      ++counters_.detours;
      c = detour;
    }
  }
  if (channels_.hot[c].flags & kScheduled) {
    arrive(c, handle, in);
  } else {
    enqueue_fifo(c, handle, in);
  }
}

void Fabric::enqueue_fifo(std::uint32_t c, std::uint32_t handle, std::uint32_t in) {
  Channel& channel = channels_.hot[c];
  Packet& packet = pool_[handle];
  const std::int64_t now = engine_.now().ps();
  const std::uint32_t bytes = wire_bytes(packet);
  const std::uint32_t header = std::min(bytes, channels_.control_bytes);
  const std::int64_t serialization = channels_.serialization_ps(c, channel, bytes);
  std::int64_t start = std::max(channel.free_at_ps, now);
  if (in != kNone && (channels_.hot[in].flags & kCutThrough)) {
    // No faster than it comes in.
    const Channel& from = channels_.hot[in];
    const std::int64_t all_here =
        now + channels_.serialization_ps(in, from, bytes) - channels_.serialization_ps(in, from, header);
    start = std::max(start, all_here - serialization);
  }
  const std::int64_t departure = start + serialization;
  if (departure - now > channel.capacity_ps) {
    drop(c, handle);
    return;
  }
  if (start - now > channel.mark_above_ps) mark(c, packet, start - now, serialization);
  channel.free_at_ps = departure;
  channel.bytes += bytes;
  const auto sequence = static_cast<std::uint32_t>(channel.packets++);
  channel.max_backlog_ps = std::max(channel.max_backlog_ps, departure - now);
  if (!channels_.free_at_ps.empty()) channels_.free_at_ps[c] = departure;
  if (observer_ != nullptr) observer_->on_enqueue(engine_.now(), c, sighting(handle), Time::ps(departure));
  if (fails_on_wire(c, bytes)) {
    drop(c, handle);
    return;
  }
  const bool early = (channel.flags & kCutThrough) && !(channels_.ends[c] & kHostBit);
  const std::int64_t seen = early ? start + channels_.serialization_ps(c, channel, header) : departure;
  put_on_wire(channel, {seen + channel.delay_ps, sequence, channels_.first_entity + c, handle, kHop, 0});
}

bool Fabric::fails_on_wire(std::uint32_t c, std::uint32_t bytes) {
  if (channels_.hot[c].flags & kDown) {
    ++counters_.lost_to_down_links;
    return true;
  }
  if (!(channels_.hot[c].flags & kErrors)) return false;
  ColdChannel& cold = channels_.cold[c];
  const double all_right = (1 - cold.loss) * std::exp(8.0 * bytes * std::log1p(-cold.bit_error_rate));
  if (cold.errors.uniform() < all_right) return false;
  ++counters_.corrupted;
  return true;
}

void Fabric::drop(std::uint32_t c, std::uint32_t handle) {
  ++channels_.cold[c].drops;
  lose(c, handle);
}

void Fabric::lose(std::uint32_t c, std::uint32_t handle) {
  ++counters_.packets_dropped;
  counters_.bytes_dropped += wire_bytes(pool_[handle]);
  if (observer_ != nullptr) observer_->on_drop(engine_.now(), c, sighting(handle));
  pool_.release(handle);
}

void Fabric::mark(std::uint32_t c, Packet& packet, std::int64_t backlog_ps, std::int64_t serialization_ps) {
  ColdChannel& cold = channels_.cold[c];
  const bool by_phantom = cold.phantom_stretch > 0 && phantom_marks(cold, serialization_ps);
  if (packet.control()) return;
  if (!by_phantom && backlog_ps <= cold.mark_all_above_ps) {
    if (backlog_ps <= cold.mark_from_ps) return;
    const double probability = cold.mark_slope * static_cast<double>(backlog_ps - cold.mark_from_ps);
    if (cold.random.uniform() >= probability) return;
  }
  set_mark(c, packet);
}

// Counts the packet in the virtual queue; what that held before decides.
bool Fabric::phantom_marks(ColdChannel& cold, std::int64_t serialization_ps) {
  const std::int64_t now = engine_.now().ps();
  const std::int64_t held = std::max<std::int64_t>(0, cold.phantom_free_ps - now);
  const auto longer = static_cast<std::int64_t>(static_cast<double>(serialization_ps) * cold.phantom_stretch);
  cold.phantom_free_ps = now + std::min(held + longer, cold.phantom_capacity_ps);
  if (held <= cold.phantom_mark_from_ps) return false;
  if (held > cold.phantom_mark_all_ps) return true;
  const auto ramp = static_cast<double>(cold.phantom_mark_all_ps - cold.phantom_mark_from_ps);
  return cold.random.uniform() * ramp < static_cast<double>(held - cold.phantom_mark_from_ps);
}

void Fabric::set_mark(std::uint32_t c, Packet& packet) {
  if (packet.marked()) return;  // by an earlier switch
  packet.set(kMarked);
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
    const std::uint32_t left = std::min<std::uint32_t>(header, packet.bytes);
    counters.bytes_trimmed += packet.bytes - left;
    packet.bytes = left;
    packet.set(kTrimmed);
    ++fabric_.channels_.cold[channel(port)].trims;
    if (fabric_.observer_ != nullptr)
      fabric_.observer_->on_trim(now(), channel(port), fabric_.sighting(handle));
  }
  void send_back(std::uint32_t port, std::uint32_t handle) override {
    Packet& packet = fabric_.pool_[handle];
    packet.set(kReturned);
    std::swap(packet.source, packet.destination);
    ++fabric_.counters_.headers_returned;
    const std::uint32_t c = fabric_.choose_channel(at_, packet);
    if (c != kNone) {
      fabric_.enqueue(c, handle, kNone);
    } else {
      ++fabric_.counters_.without_route;
      fabric_.lose(channel(port), handle);
    }
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
      fabric_.outbox_.send(to, event, Packet{}, fabric_.pool_, kNone);
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
  const std::uint32_t sequence = cold.sequence++;
  if ((channel.flags & (kErrors | kDown)) && fails_on_wire(c, bytes)) {
    queues_of(c).lost_when_sent(cold.port, handle, node);
    drop(c, handle);
    return;
  }
  put_on_wire(channel, {departure + channel.delay_ps, sequence, entity, handle, kHop, 0});
}

bool Fabric::lost_on_wire(std::uint32_t c, const Event& event) {
  if (event.sequence >= channels_.cold[c].lost_before) return false;
  const std::uint32_t at = channels_.ends[c] & kVertexMask;
  if (!channels_.queues.empty() && channels_.queues[at] != nullptr) {
    Node node(*this, at);
    channels_.queues[at]->lost_on_wire(channels_.cold[c ^ 1].port, event.payload, node);
  }
  ++counters_.lost_to_down_links;
  ++channels_.cold[c ^ 1].lost_coming_in;
  lose(c, event.payload);
  return true;
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
          .ack = !packet.data(),
          .marked = packet.marked(),
          .trimmed = packet.trimmed() || packet.kind == PacketKind::kNack,
          .returned = packet.returned(),
          .source = packet.source,
          .destination = packet.destination,
          .flow_number = packet.flow_number,
          .entropy = packet.entropy};
}

}  // namespace weft::sim::packet
