#include "sim/packet/scheduled_server.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace weft::sim::packet {

// What the queues of a node may do, at one moment.
class ScheduledServer::Node final : public NodeActions {
 public:
  Node(ScheduledServer& server, topologies::Vertex at, std::int64_t now_ps)
      : NodeActions(server.wires_.pool), server_(server), wires_(server.wires_), at_(at) {
    now_ = Time::ps(now_ps);
  }

  void drop(std::uint32_t port, std::uint32_t packet) override { wires_.drop(channel(port), packet, now_); }
  void mark(std::uint32_t port, std::uint32_t packet) override {
    Packet& marked = pool_[packet];
    if (!marked.control()) wires_.set_mark(channel(port), marked);
  }
  void trim(std::uint32_t port, std::uint32_t handle) override {
    Packet& packet = pool_[handle];
    FabricCounters& counters = wires_.counters;
    ++counters.packets_trimmed;
    const std::uint32_t left = std::min<std::uint32_t>(wires_.channels.control_bytes, packet.bytes);
    counters.bytes_trimmed += packet.bytes - left;
    packet.bytes = left;
    packet.set(kTrimmed);
    ++wires_.channels.cold[channel(port)].trims;
    if (wires_.observer != nullptr) wires_.observer->on_trim(now_, channel(port), wires_.sighting(handle));
    if (wires_.hot[channel(port)].flags & kReports) wires_.listener->trimmed(channel(port), handle);
  }
  void send_back(std::uint32_t port, std::uint32_t handle) override {
    Packet& packet = pool_[handle];
    packet.set(kReturned);
    std::swap(packet.source, packet.destination);
    ++wires_.counters.headers_returned;
    server_.forwarding_.send_from(at_, handle, channel(port));
  }
  void send_frame(std::uint32_t port, std::uint32_t content) override {
    const std::uint32_t c = channel(port);
    server_.send_frame(c, content, kFrameSequence | wires_.channels.cold[c].frames++, now_);
  }
  void return_room(std::uint32_t port, std::uint32_t out, std::uint32_t content, Time when) override {
    const std::uint32_t c = channel(port);
    const Channels& channels = wires_.channels;
    if (channels.mailed_room.empty() || channels.mailed_room[c ^ 1] == nullptr) {
      server_.send_frame(c, content, kRoomSequence | out, when);
    } else {
      wires_.outbox.send(wires_.hot[c].end_partition, RoomReturn{c ^ 1, content, when});
    }
  }
  void wake(std::uint32_t port) override { server_.wake(channel(port)); }
  void settle() override {
    for (const std::uint32_t c : wires_.channels.topology.out_channels(at_)) {
      server_.settle_before(c, now_.ps() + 1);
    }
  }
  void be_exact(bool exact) override {
    NodeQueues& queues = *wires_.channels.queues[at_];
    queues.set_exact(exact);
    for (const std::uint32_t c : wires_.channels.topology.out_channels(at_)) server_.look_after(c, queues);
  }

 private:
  std::uint32_t channel(std::uint32_t port) const { return wires_.channels.topology.out_channels(at_)[port]; }

  ScheduledServer& server_;
  Wires& wires_;
  const topologies::Vertex at_;
};

ScheduledServer::ScheduledServer(Wires& wires, Forwarding& forwarding)
    : wires_(wires), forwarding_(forwarding) {}

void ScheduledServer::arrive(std::uint32_t c, std::uint32_t handle, std::uint32_t in) {
  Channel& channel = wires_.hot[c];
  const PortPlace& place = wires_.channels.places[c];
  NodeQueues& queues = *place.queues;
  const Time moment = wires_.engine.now();
  const std::int64_t now = moment.ps();
  if (channel.flags & (kWaiting | kAsleep)) settle_before(c, now + 1);
  if (wires_.observer != nullptr) [[unlikely]]
    wires_.observer->on_enqueue(moment, c, wires_.sighting(handle), Time::max());
  Node node(*this, place.vertex, now);
  const std::uint32_t from = in == kNone ? NodeQueues::kHere : wires_.channels.places[in ^ 1].port;
  if (!(channel.flags & (kWaiting | kAsleep)) &&
      (channel.free_at_ps <= now || (queues.commits() && can_foresee(channel)))) {
    const std::uint32_t bytes = wires_.pool[handle].bytes;
    const Time start = std::max(Time::ps(channel.free_at_ps), moment);
    const Time departure = start + Time::ps(wires_.channels.serialization_ps(c, channel, bytes));
    if (queues.free_pass() || queues.pass(from, place.port, handle, start, departure, node)) {
      channel.max_backlog_ps = std::max(channel.max_backlog_ps, (departure - moment).ps());
      transmit(c, queues, handle, bytes, start.ps());
      if (queues.exact()) look_after(c, queues);
      return;
    }
  }
  queues.arrive(from, place.port, handle, node);
  if (!(channel.flags & kWaiting)) {
    if (channel.free_at_ps <= now) {
      start_next(c, queues, now);
    } else {
      channel.flags = static_cast<std::uint16_t>((channel.flags & ~kAsleep) | kWaiting);
    }
  }
  note_backlog(c, queues);
  look_after(c, queues);
}

// How long what waits and what is being sent takes.
void ScheduledServer::note_backlog(std::uint32_t c, const NodeQueues& queues) {
  Channel& channel = wires_.hot[c];
  const std::uint64_t waiting = queues.backlog_bytes(wires_.channels.places[c].port);
  const std::int64_t backlog = std::max<std::int64_t>(channel.free_at_ps - wires_.engine.now().ps(), 0) +
                               wires_.channels.long_serialization_ps(c, channel, waiting);
  channel.max_backlog_ps = std::max(channel.max_backlog_ps, backlog);
}

bool ScheduledServer::start_next(std::uint32_t c, NodeQueues& queues, std::int64_t start_ps) {
  Channel& channel = wires_.hot[c];
  const PortPlace& place = wires_.channels.places[c];
  Node node(*this, place.vertex, start_ps);
  const NodeQueues::Next next = queues.next(place.port, node);
  const int left = next.packet == kNone ? kAsleep : kWaiting;
  channel.flags =
      static_cast<std::uint16_t>((channel.flags & ~(kWaiting | kAsleep)) | (next.more ? left : 0));
  if (next.packet == kNone) return false;
  const std::int64_t departure = start_ps + wires_.channels.serialization_ps(c, channel, next.bytes);
  if (queues.follows_departures()) queues.started(place.port, Time::ps(departure), node);
  transmit(c, queues, next.packet, next.bytes, start_ps);
  return true;
}

void ScheduledServer::transmit(std::uint32_t c, NodeQueues& queues, std::uint32_t handle, std::uint32_t bytes,
                               std::int64_t start_ps) {
  Channel& channel = wires_.hot[c];
  const std::int64_t departure = start_ps + wires_.channels.serialization_ps(c, channel, bytes);
  channel.free_at_ps = departure;
  channel.bytes += bytes;
  const auto sequence = static_cast<std::uint32_t>(channel.packets++);
  if (wires_.observer != nullptr) [[unlikely]] {
    wires_.observer->on_transmit(Time::ps(start_ps), c, wires_.sighting(handle), Time::ps(departure));
  }
  if (channel.flags & kReports) [[unlikely]]
    wires_.listener->departs(c, handle, departure);
  if ((channel.flags & (kErrors | kDown)) && wires_.fails_on_wire(c, bytes)) [[unlikely]] {
    const PortPlace& place = wires_.channels.places[c];
    Node node(*this, place.vertex, start_ps);
    queues.lost_when_sent(place.port, handle, node);
    wires_.drop(c, handle, Time::ps(start_ps));
    return;
  }
  if ((channel.flags & kStamps) && wires_.is_stamped(handle)) [[unlikely]] {
    const std::uint64_t behind = queues.backlog_bytes(wires_.channels.places[c].port);
    wires_.stamp(c, handle, start_ps, behind, channel.bytes);
  }
  wires_.put_on_wire(channel,
                     {departure + channel.delay_ps, sequence, wires_.first_entity + c, handle, kHop, 0});
}

std::int64_t ScheduledServer::next_start_ps(std::uint32_t c) const {
  const Channel& channel = wires_.hot[c];
  if (channel.flags & kWaiting) return channel.free_at_ps;
  if (!(channel.flags & kAsleep)) return INT64_MAX;
  return queues_of(c).ready(wires_.channels.places[c].port).ps();
}

void ScheduledServer::settle_before(std::uint32_t c, std::int64_t limit_ps) {
  if (!(wires_.hot[c].flags & (kWaiting | kAsleep))) return;
  NodeQueues& queues = queues_of(c);
  for (;;) {
    const std::int64_t start = next_start_ps(c);
    if (start >= limit_ps) return;
    start_next(c, queues, start);
  }
}

// After something has happened to a port: sees that it is looked at again in time.
void ScheduledServer::look_after(std::uint32_t c, const NodeQueues& queues) {
  Channel& channel = wires_.hot[c];
  if ((channel.flags & (kWatched | kListed)) == kWatched && (channel.flags & (kWaiting | kAsleep))) {
    channel.flags |= kListed;
    watched_.push_back(c);
  }
  if (queues.exact()) {
    // A departure matters to who waits for the link, and at a switch to its buffers.
    const bool sends = (channel.flags & (kWaiting | kAwaited)) || !(wires_.channels.ends[c ^ 1] & kHostBit);
    const std::int64_t now = wires_.engine.now().ps();
    if (channel.free_at_ps > now || (channel.flags & kWaiting)) {
      if (sends) serve_at(c, channel.free_at_ps);
    } else if ((channel.flags & (kAsleep | kAwaited)) && queues.returns_room()) {
      const std::uint32_t port = wires_.channels.places[c].port;
      const Time ready = (channel.flags & kAsleep) ? queues.ready(port) : queues.ready_for_data(port);
      serve_at(c, std::min(std::max(ready.ps(), now + 1), now + wires_.channels.cold[c].slack_ps));
    }
    return;
  }
  if (channel.flags & kGuarded) return;
  if (channel.flags & kWaiting) {
    schedule_serve(c, channel.free_at_ps + wires_.channels.cold[c].slack_ps);
  } else if ((channel.flags & kAsleep) && queues.returns_room()) {
    schedule_serve(c, wires_.engine.now().ps() + wires_.channels.cold[c].slack_ps);
  }
}

void ScheduledServer::serve_at(std::uint32_t c, std::int64_t when_ps) {
  if (wires_.channels.cold[c].serve_ps != when_ps) schedule_serve(c, when_ps);
}

void ScheduledServer::schedule_serve(std::uint32_t c, std::int64_t when_ps) {
  wires_.hot[c].flags |= kGuarded;
  wires_.channels.cold[c].serve_ps = when_ps;
  wires_.engine.insert({when_ps, kServeSequence, wires_.first_entity + c, c, kServe, 0});
}

std::uint32_t ScheduledServer::serve(std::uint32_t c) {
  Channel& channel = wires_.hot[c];
  ColdChannel& cold = wires_.channels.cold[c];
  const std::int64_t now = wires_.engine.now().ps();
  if (cold.serve_ps != now) return kNone;  // an earlier one took its place
  cold.serve_ps = -1;
  channel.flags &= static_cast<std::uint16_t>(~kGuarded);
  const PortPlace& place = wires_.channels.places[c];
  NodeQueues& queues = *place.queues;
  if (queues.exact() && queues.follows_departures() && channel.free_at_ps <= now) {
    Node node(*this, place.vertex, now);
    queues.departed(place.port, node);
  }
  settle_before(c, now + 1);
  const std::uint32_t ready = ready_nic(c);
  look_after(c, queues);
  return ready;
}

void ScheduledServer::await_room(std::uint32_t c) {
  wires_.hot[c].flags |= kAwaited;
  look_after(c, queues_of(c));
}

void ScheduledServer::wake(std::uint32_t c) {
  Channel& channel = wires_.hot[c];
  if (!(channel.flags & kAsleep)) return;
  NodeQueues& queues = queues_of(c);
  const std::int64_t now = wires_.engine.now().ps();
  if (channel.free_at_ps <= now) {
    start_next(c, queues, now);
  } else {
    channel.flags = static_cast<std::uint16_t>((channel.flags & ~kAsleep) | kWaiting);
  }
  look_after(c, queues);
}

void ScheduledServer::send_frame(std::uint32_t c, std::uint32_t content, std::uint32_t sequence, Time when) {
  const Event event{
      when.ps() + wires_.channels.cold[c].frame_ps, sequence, wires_.first_entity + c, content, kFrame, 0};
  const std::uint32_t to = wires_.hot[c].end_partition;
  if (to == wires_.partition) {
    wires_.engine.insert(event);
  } else {
    wires_.outbox.send(to, event, Packet{}, wires_.pool, kNone);
  }
}

std::uint32_t ScheduledServer::frame_arrived(std::uint32_t c, std::uint32_t content) {
  const std::uint32_t back = c ^ 1;
  settle(back);
  const PortPlace& place = wires_.channels.places[back];
  Node node(*this, place.vertex, wires_.engine.now().ps());
  place.queues->frame(place.port, content, node);
  return ready_nic(back);
}

void ScheduledServer::lost_on_wire(std::uint32_t c, std::uint32_t handle) {
  const PortPlace& place = wires_.channels.places[c ^ 1];
  if (wires_.channels.queues.empty() || wires_.channels.queues[place.vertex] == nullptr) return;
  Node node(*this, place.vertex, wires_.engine.now().ps());
  wires_.channels.queues[place.vertex]->lost_on_wire(place.port, handle, node);
}

void ScheduledServer::settle_all(Time now) {
  const Channels& channels = wires_.channels;
  if (channels.queues.empty()) return;
  for (std::uint32_t c = 0; c < channels.count(); ++c) {
    if ((channels.hot[c].flags & (kWaiting | kAsleep)) &&
        channels.part_of(channels.places[c].vertex) == wires_.partition) {
      settle_before(c, now.ps());
    }
  }
}

Time ScheduledServer::settle_watched(Time now) {
  std::int64_t next = INT64_MAX;
  for (std::size_t i = 0; i < watched_.size();) {
    const std::uint32_t c = watched_[i];
    settle_before(c, now.ps());
    if (wires_.hot[c].flags & (kWaiting | kAsleep)) {
      next = std::min(next, next_start_ps(c));
      ++i;
    } else {
      wires_.hot[c].flags &= static_cast<std::uint16_t>(~kListed);
      watched_[i] = watched_.back();
      watched_.pop_back();
    }
  }
  return Time::ps(next);
}

void ScheduledServer::watch_all() {
  for (std::uint32_t c = 0; c < wires_.channels.count(); ++c) {
    if (wires_.hot[c].flags & kScheduled) wires_.hot[c].flags |= kWatched;
  }
}

void ScheduledServer::settle_in_order() {
  const std::int64_t now = wires_.engine.now().ps();
  for (;;) {
    std::uint32_t first = kNone;
    std::int64_t earliest = now;
    for (const std::uint32_t c : watched_) {
      const std::int64_t start = next_start_ps(c);
      if (start < earliest) {
        earliest = start;
        first = c;
      }
    }
    if (first == kNone) return;
    settle_before(first, earliest + 1);
  }
}

}  // namespace weft::sim::packet
