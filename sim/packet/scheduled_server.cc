#include "sim/packet/scheduled_server.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace weft::sim::packet {

// What the queues of a node may do, at one moment.
class ScheduledServer::Node final : public NodeActions {
 public:
  Node(ScheduledServer& server, NodeId at, std::int64_t now_ps)
      : NodeActions(server.wires_.pool), server_(server), wires_(server.wires_), at_(at) {
    now_ = Time::ps(now_ps);
  }

  void drop(PortId port, PacketHandle packet) override { wires_.drop(channel(port), packet, now_); }
  void mark(PortId port, PacketHandle packet) override {
    Packet& marked = pool_[packet];
    if (!marked.control()) wires_.set_mark(channel(port), marked);
  }
  void trim(PortId port, PacketHandle handle) override {
    Packet& packet = pool_[handle];
    FabricCounters& counters = wires_.counters;
    ++counters.packets_trimmed;
    const std::uint32_t left = std::min<std::uint32_t>(wires_.channels.control_bytes, packet.bytes);
    counters.bytes_trimmed += packet.bytes - left;
    packet.bytes = left;
    packet.set(kTrimmed);
    if (wires_.channels.ends[channel(port)].is_host()) packet.set(kAtLastHop);
    ++wires_.channels.cold[channel(port)].trims;
    if (wires_.observer != nullptr) wires_.observer->on_trim(now_, channel(port), wires_.sighting(handle));
    if (wires_.hot[channel(port)].flags & kReports) wires_.listener->trimmed(channel(port), handle);
  }
  void send_back(PortId port, PacketHandle handle) override {
    Packet& packet = pool_[handle];
    packet.set(kReturned);
    std::swap(packet.source, packet.destination);
    ++wires_.counters.headers_returned;
    server_.forwarding_.send_from(at_, handle, channel(port));
  }
  void send_frame(PortId port, std::uint32_t content) override {
    const ChannelId c = channel(port), told = opposite(c);
    if (wires_.hot[c].end_partition == wires_.partition) {
      wires_.hot[told].flags |= kTold;
      ++wires_.channels.cold[told].told;
    }
    server_.send_frame(c, content, kFrameSequence | wires_.channels.cold[c].frames++, now_);
  }
  void return_room(PortId port, PortId out, std::uint32_t content, Time when) override {
    const ChannelId c = channel(port);
    const Channels& channels = wires_.channels;
    if (channels.mailed_room.empty() || channels.mailed_room[opposite(c)] == nullptr) {
      server_.send_frame(c, content, kRoomSequence | out, when);
    } else {
      const Time due = when + Time::ps(channels.cold[c].frame_ps);
      wires_.outbox.send(wires_.hot[c].end_partition, RoomReturn{opposite(c), content, when}, due);
    }
  }
  void look_at(PortId port, Time when) override {
    const ChannelId c = channel(port);
    wires_.engine.insert({when.ps(), kLookSequence, wires_.first_entity + c, c, kLook, 0});
  }
  void wake(PortId port) override { server_.wake(channel(port)); }
  void settle() override {
    for (const std::uint32_t c : wires_.channels.topology.out_channels(at_)) {
      server_.settle_before(ChannelId(c), now_.ps() + 1);
    }
  }
  void be_exact(bool exact) override {
    NodeQueues& queues = *wires_.channels.queues[at_];
    queues.set_exact(exact);
    for (const std::uint32_t c : wires_.channels.topology.out_channels(at_)) {
      server_.look_after(ChannelId(c), queues);
    }
  }

 private:
  ChannelId channel(PortId port) const { return ChannelId(wires_.channels.topology.out_channels(at_)[port]); }

  ScheduledServer& server_;
  Wires& wires_;
  const NodeId at_;
};

ScheduledServer::ScheduledServer(Wires& wires, Forwarding& forwarding)
    : wires_(wires), forwarding_(forwarding) {}

void ScheduledServer::arrive(ChannelId c, PacketHandle handle, ChannelId in) {
  Channel& channel = wires_.hot[c];
  const PortPlace& place = wires_.channels.places[c];
  NodeQueues& queues = place.queues();
  const Time moment = wires_.engine.now();
  const std::int64_t now = moment.ps();
  if (channel.flags & (kWaiting | kAsleep)) settle_ahead(c, queues);
  if (wires_.observer != nullptr) [[unlikely]]
    wires_.observer->on_enqueue(moment, c, wires_.sighting(handle), Time::max());
  Node node(*this, place.vertex, now);
  const PortId from = in == kNoChannel ? NodeQueues::kHere : wires_.channels.end_ports[in];
  if (!(channel.flags & (kWaiting | kAsleep)) &&
      (channel.free_at_ps <= now || (queues.commits() && can_foresee(channel, queues)))) {
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
void ScheduledServer::note_backlog(ChannelId c, const NodeQueues& queues) {
  Channel& channel = wires_.hot[c];
  const std::uint64_t waiting = queues.backlog_bytes(wires_.channels.places[c].port);
  const std::int64_t backlog = std::max<std::int64_t>(channel.free_at_ps - wires_.engine.now().ps(), 0) +
                               wires_.channels.long_serialization_ps(c, channel, waiting);
  channel.max_backlog_ps = std::max(channel.max_backlog_ps, backlog);
}

bool ScheduledServer::start_next(ChannelId c, NodeQueues& queues, std::int64_t start_ps) {
  Channel& channel = wires_.hot[c];
  const PortPlace& place = wires_.channels.places[c];
  Node node(*this, place.vertex, start_ps);
  const NodeQueues::Next next = queues.next(place.port, node);
  const int left = next.packet == kNoPacket ? kAsleep : kWaiting;
  channel.flags =
      static_cast<std::uint16_t>((channel.flags & ~(kWaiting | kAsleep)) | (next.more ? left : 0));
  if (next.packet == kNoPacket) return false;
  const std::int64_t departure = start_ps + wires_.channels.serialization_ps(c, channel, next.bytes);
  if (queues.follows_departures()) queues.started(place.port, Time::ps(departure), node);
  transmit(c, queues, next.packet, next.bytes, start_ps);
  return true;
}

void ScheduledServer::transmit(ChannelId c, NodeQueues& queues, PacketHandle handle, std::uint32_t bytes,
                               std::int64_t start_ps) {
  Channel& channel = wires_.hot[c];
  const std::int64_t departure = start_ps + wires_.channels.serialization_ps(c, channel, bytes);
  channel.free_at_ps = departure;
  channel.bytes += bytes;
  const auto sequence = static_cast<std::uint32_t>(channel.packets++);
  if (wires_.observer != nullptr) [[unlikely]] {
    wires_.observer->on_transmit(Time::ps(start_ps), c, wires_.sighting(handle), Time::ps(departure));
  }
  if (channel.flags & (kReports | kDivided)) [[unlikely]] {
    if (channel.flags & kReports) wires_.listener->departs(c, handle, departure);
    if (channel.flags & kDivided) wires_.channels.count_by_job(c, wires_.pool[handle].source, bytes);
  }
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

std::int64_t ScheduledServer::next_start_ps(ChannelId c) const {
  const Channel& channel = wires_.hot[c];
  if (channel.flags & kWaiting) return channel.free_at_ps;
  if (!(channel.flags & kAsleep)) return INT64_MAX;
  return queues_of(c).ready(wires_.channels.places[c].port).ps();
}

void ScheduledServer::settle_before(ChannelId c, std::int64_t limit_ps) {
  if (!(wires_.hot[c].flags & (kWaiting | kAsleep))) return;
  NodeQueues& queues = queues_of(c);
  for (;;) {
    const std::int64_t start = next_start_ps(c);
    if (start >= limit_ps) return;
    start_next(c, queues, start);
  }
}

void ScheduledServer::settle_ahead(ChannelId c, const NodeQueues& queues) {
  const std::int64_t now = wires_.engine.now().ps();
  const bool sure = queues.commits() && queues.heeds_frames() && can_foresee(wires_.hot[c], queues);
  settle_before(c, now + (sure ? std::max<std::int64_t>(wires_.channels.cold[c].slack_ps, 1) : 1));
}

// After something has happened to a port: sees that it is looked at again in time.
void ScheduledServer::look_after(ChannelId c, const NodeQueues& queues) {
  Channel& channel = wires_.hot[c];
  if ((channel.flags & (kWatched | kListed)) == kWatched && (channel.flags & (kWaiting | kAsleep))) {
    channel.flags |= kListed;
    watched_.push_back(c);
  }
  if (queues.exact()) {
    const std::int64_t now = wires_.engine.now().ps();
    if (channel.free_at_ps > now || (channel.flags & kWaiting)) {
      if (channel.flags & (kWaiting | kAwaited)) serve_at(c, channel.free_at_ps);
    } else if ((channel.flags & (kAsleep | kAwaited)) && queues.returns_room()) {
      const PortId port = wires_.channels.places[c].port;
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

void ScheduledServer::serve_at(ChannelId c, std::int64_t when_ps) {
  if (wires_.channels.cold[c].serve_ps != when_ps) schedule_serve(c, when_ps);
}

void ScheduledServer::schedule_serve(ChannelId c, std::int64_t when_ps) {
  wires_.hot[c].flags |= kGuarded;
  wires_.channels.cold[c].serve_ps = when_ps;
  wires_.engine.insert({when_ps, kServeSequence, wires_.first_entity + c, c, kServe, 0});
}

ChannelId ScheduledServer::serve(ChannelId c) {
  Channel& channel = wires_.hot[c];
  ColdChannel& cold = wires_.channels.cold[c];
  const std::int64_t now = wires_.engine.now().ps();
  if (cold.serve_ps != now) return kNoChannel;  // an earlier one took its place
  cold.serve_ps = -1;
  channel.flags &= static_cast<std::uint16_t>(~kGuarded);
  settle_ahead(c, queues_of(c));
  const ChannelId ready = ready_nic(c);
  look_after(c, queues_of(c));
  return ready;
}

void ScheduledServer::look(ChannelId c) {
  const PortPlace& place = wires_.channels.places[c];
  Node node(*this, place.vertex, wires_.engine.now().ps());
  place.queues().look(place.port, node);
}

void ScheduledServer::await_room(ChannelId c) {
  wires_.hot[c].flags |= kAwaited;
  look_after(c, queues_of(c));
}

void ScheduledServer::wake(ChannelId c) {
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

void ScheduledServer::send_frame(ChannelId c, std::uint32_t content, std::uint32_t sequence, Time when) {
  const Event event{
      when.ps() + wires_.channels.cold[c].frame_ps, sequence, wires_.first_entity + c, content, kFrame, 0};
  const std::uint32_t to = wires_.hot[c].end_partition;
  if (to == wires_.partition) {
    wires_.engine.insert(event);
  } else {
    wires_.outbox.send(to, event, Packet{}, wires_.pool, kNoPacket);
  }
}

ChannelId ScheduledServer::frame_arrived(ChannelId c, std::uint32_t content) {
  const ChannelId back = opposite(c);
  settle(back);
  if ((wires_.hot[back].flags & kTold) && --wires_.channels.cold[back].told == 0) {
    wires_.hot[back].flags &= static_cast<std::uint16_t>(~kTold);
  }
  const PortPlace& place = wires_.channels.places[back];
  Node node(*this, place.vertex, wires_.engine.now().ps());
  place.queues().frame(place.port, content, node);
  return ready_nic(back);
}

void ScheduledServer::lost_on_wire(ChannelId c, PacketHandle handle) {
  const PortPlace& place = wires_.channels.places[opposite(c)];
  if (wires_.channels.queues.empty() || wires_.channels.queues[place.vertex] == nullptr) return;
  Node node(*this, place.vertex, wires_.engine.now().ps());
  wires_.channels.queues[place.vertex]->lost_on_wire(place.port, handle, node);
}

void ScheduledServer::settle_all(Time now) {
  const Channels& channels = wires_.channels;
  if (channels.queues.empty()) return;
  for (ChannelId c{0}; c < channels.count(); ++c) {
    if ((channels.hot[c].flags & (kWaiting | kAsleep)) &&
        channels.part_of(channels.places[c].vertex) == wires_.partition) {
      settle_before(c, now.ps());
    }
  }
}

Time ScheduledServer::settle_watched(Time now) {
  std::int64_t next = INT64_MAX;
  for (std::size_t i = 0; i < watched_.size();) {
    const ChannelId c = watched_[i];
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
  for (ChannelId c{0}; c < wires_.channels.count(); ++c) {
    if (wires_.hot[c].flags & kScheduled) wires_.hot[c].flags |= kWatched;
  }
}

void ScheduledServer::settle_in_order() {
  const std::int64_t now = wires_.engine.now().ps();
  for (;;) {
    ChannelId first = kNoChannel;
    std::int64_t earliest = now;
    for (const ChannelId c : watched_) {
      const std::int64_t start = next_start_ps(c);
      if (start < earliest) {
        earliest = start;
        first = c;
      }
    }
    if (first == kNoChannel) return;
    settle_before(first, earliest + 1);
  }
}

}  // namespace weft::sim::packet
