#include "sim/packet/answers.h"

#include <algorithm>
#include <span>

namespace weft::sim::packet {

Answers::Answers(HostSide& side, Connections& connections, NicTurns& turns)
    : side_(side), connections_(connections), turns_(turns) {
  if (side.setup.hears(congestion::kCredits)) side.fabric.packets().credits().keep();
}

// Is it about the connection that has the slot now, and is that heard? One that was idle for long enough to
// be forgotten isn't, forgotten or not.
bool Answers::is_of(SlotId slot, const Packet& packet) const {
  const Connection& connection = connections_[slot];
  if (connection.number != packet.flow_number ||
      connection.source != side_.channels.host_of(packet.destination))
    return false;
  if (connection.first_message != kNoMessage) [[likely]]
    return true;
  return side_.engine.now().ps() < connections_.cold(slot).idle_since_ps + side_.setup.idle.ps();
}

void Answers::on_answer(PacketHandle handle) {
  PacketPool& packets = side_.fabric.packets();
  const Packet packet = packets[handle];
  // Switches know a flow by what its data says: the receiver's slot.
  const SlotId slot = packet.from_switch()
                          ? connections_.of_receiver(side_.part_of_host(packet.source), packet.flow)
                          : SlotId(packet.flow);
  if (slot == kNoSlot || !is_of(slot, packet)) {
    packets.release(handle);
    return;
  }
  Connection& connection = connections_[slot];
  switch (packet.kind) {
    case PacketKind::kAck:
      packets.release(handle);
      return on_ack(slot, handle, packet);
    case PacketKind::kNack:
      packets.release(handle);
      ++side_.counters.nacks;
      return on_nack(slot, handle, packet, packet.cumulative());
    case PacketKind::kCnp:
      if (side_.setup.hears(congestion::kNotifications)) {
        connection.control->on_notification(side_.engine.now());
      }
      break;
    case PacketKind::kCredit:
      if (side_.setup.hears(congestion::kCredits)) {
        connection.control->on_credit(side_.engine.now(), packets.credits().get(handle));
      }
      break;
    case PacketKind::kPause:
    case PacketKind::kResume:
      set_paused(slot, packet.kind == PacketKind::kPause);
      break;
    case PacketKind::kData:
      break;  // never comes here
  }
  packets.release(handle);
  connections_.allow(slot);
  turns_.wake(slot);
}

// The packet that ends a pause may be lost, as any other: so a pause has an end of its own.
void Answers::set_paused(SlotId slot, bool paused) {
  Connection& connection = connections_[slot];
  connection.paused = paused;
  if (!paused) return;
  ++side_.counters.pauses;
  const Time end = side_.engine.now() + side_.setup.recovery.min_timeout;
  connections_.cold(slot).pause_end_ps = end.ps();
  turns_.arm_timer(side_.hosts.nics[connection.nic], end);
}

void Answers::nic_timer(NicId nic_number) {
  Nic& nic = side_.hosts.nics[nic_number];
  const Time now = side_.engine.now();
  if (now.ps() != nic.timer_ps) return;  // an earlier one took its place
  nic.timer_ps = INT64_MAX;
  nic.last_timer_ps = now.ps();
  Time next = Time::max();
  for (SlotId slot = nic.first_live; slot != kNoSlot; slot = connections_[slot].next) {
    Connection& connection = connections_[slot];
    if (connection.recovery->deadline() <= now) {
      const auto outcome = connection.recovery->on_timer(now);
      side_.counters.given_up += outcome.gave_up;
      side_.counters.timeouts += outcome.timeout;
      tell_lost(slot, outcome, nullptr);
      turns_.wake(slot);
    }
    if (connection.paused) [[unlikely]]
      next = std::min(next, look_at_pause(slot));
    next = std::min(next, connection.recovery->deadline());
  }
  if (next != Time::max()) turns_.arm_timer(nic, next);
}

// Ends it if its time is over; returns when it is.
Time Answers::look_at_pause(SlotId slot) {
  const Time end = Time::ps(connections_.cold(slot).pause_end_ps);
  if (end > side_.engine.now()) return end;
  connections_[slot].paused = false;
  ++side_.counters.pauses_expired;
  turns_.wake(slot);
  return Time::max();
}

// `handle`: of the packet, here and below. It has been given back, but until another packet is made, what
// stood beside it is still there.
void Answers::on_ack(SlotId slot, PacketHandle handle, const Packet& packet) {
  const Connection& connection = connections_[slot];
  const Time now = side_.engine.now();
  const PacketPool& packets = side_.fabric.packets();
  const AckRecord record = packets.acks().get(handle);
  const auto outcome = connection.recovery->on_ack({.now = now,
                                                    .number = packet.number,
                                                    .cumulative = packet.cumulative(),
                                                    .sent = Time::ps(packet.sent_ps),
                                                    .duplicate = (packet.flags & kDuplicate) != 0,
                                                    .sack = record.sack,
                                                    .path = packet.entropy,
                                                    .window_bytes = connection.window_bytes});
  if (connection.selector != nullptr && side_.setup.policy.selectors_want_feedback) {
    connection.selector->on_ack(
        {.now = now,
         .path = {.entropy = packet.entropy, .route = packets.routes().get(handle).named},
         .rtt = now - Time::ps(packet.sent_ps),
         .ecn_marked = packet.marked()});
  }
  tell_acked(slot, handle, packet, outcome, Time::ps(record.held_ps));
  tell_lost(slot, outcome, nullptr);
  go_on(slot);
}

// It names the receiver's slot.
void Answers::on_returned(PacketHandle handle) {
  const Packet packet = side_.fabric.packets()[handle];
  side_.fabric.packets().release(handle);
  const SlotId slot = connections_.of_receiver(side_.part_of_host(packet.source), packet.flow);
  if (is_of(slot, packet)) on_nack(slot, handle, packet, 0);
}

void Answers::on_nack(SlotId slot, PacketHandle handle, const Packet& packet, std::uint32_t cumulative) {
  const auto outcome = connections_[slot].recovery->on_nack({.now = side_.engine.now(),
                                                             .number = packet.number,
                                                             .cumulative = cumulative,
                                                             .sent = Time::ps(packet.sent_ps)});
  tell_acked(slot, handle, packet, outcome, Time());
  tell_lost(slot, outcome, &packet);
  go_on(slot);
}

void Answers::tell_acked(SlotId slot, PacketHandle handle, const Packet& packet,
                         const congestion::Recovery::Outcome& outcome, Time held) {
  const Connection& connection = connections_[slot];
  if (outcome.spared_bytes > 0 && side_.setup.hears(congestion::kMessages)) [[unlikely]]
    connection.control->on_spared(outcome.spared_bytes);
  if (outcome.acked_packets == 0) return;
  const Time now = side_.engine.now();
  const std::span<const congestion::HopTelemetry> telemetry = side_.fabric.packets().telemetry().get(handle);
  const auto switches = static_cast<std::uint32_t>(telemetry.size());
  connection.control->on_ack({.now = now,
                              .rtt = now - Time::ps(packet.sent_ps),
                              .host_delay = side_.setup.config.host_round_trip() + held,
                              .bytes = outcome.acked_bytes,
                              .in_flight = connection.recovery->in_flight_bytes(),
                              .ecn_marked = packet.marked(),
                              .hops = switches > 0 ? switches + 1 : connection.hops,
                              .telemetry = telemetry});
  connections_.allow(slot);
}

// `trimmed`: the header or NACK that told of it, if one did.
void Answers::tell_lost(SlotId slot, const congestion::Recovery::Outcome& outcome, const Packet* trimmed) {
  if (outcome.lost_packets == 0 && !outcome.timeout) [[likely]]
    return;
  const Connection& connection = connections_[slot];
  const Time now = side_.engine.now();
  if (outcome.timeout && connection.selector != nullptr) connection.selector->on_timeout(now);
  lost_paths_.clear();
  for (const std::uint32_t number : connections_.losses()) {
    const std::vector<routing::Path>& ring = connections_.cold(slot).paths;
    const routing::Path path =
        ring.empty() ? routing::Path{connection.entropy} : ring[number & (ring.size() - 1)];
    lost_paths_.push_back(path.entropy);
    if (connection.selector == nullptr) continue;
    const routing::PathNews news{.now = now, .path = path};
    if (trimmed != nullptr) {
      connection.selector->on_trim(news);
    } else {
      connection.selector->on_loss(news);
    }
  }
  connections_.losses().clear();
  const congestion::Loss loss{.now = now,
                              .bytes = outcome.lost_bytes,
                              .in_flight = connection.recovery->in_flight_bytes(),
                              .at_last_hop = trimmed != nullptr && (trimmed->flags & kAtLastHop) != 0,
                              .returned = trimmed != nullptr && trimmed->returned(),
                              .paths = lost_paths_};
  if (outcome.timeout) {
    connection.control->on_timeout(loss);
  } else if (trimmed != nullptr) {
    connection.control->on_trim(loss);
  } else {
    connection.control->on_loss(loss);
  }
  connections_.allow(slot);
}

// Some of what the connection was given has been acknowledged, or has to be sent again.
void Answers::go_on(SlotId slot) {
  Connection& connection = connections_[slot];
  if (connection.first_message == kNoMessage) return;  // it rested already
  retire_messages(slot);
  if (connection.first_message == kNoMessage) {
    connections_.rest(slot);
  } else {
    turns_.arm_timer(side_.hosts.nics[connection.nic], connection.recovery->deadline());
    turns_.wake(slot);
  }
  tell_senders();
}

void Answers::retire_messages(SlotId slot) {
  Connection& connection = connections_[slot];
  const std::uint64_t buffer = side_.setup.config.connections.send_buffer_bytes;
  const std::uint32_t acknowledged = connection.recovery->first_unacked();
  if (acknowledged < connection.first_end && buffer == 0) [[likely]]
    return;
  ColdConnection& cold = connections_.cold(slot);
  while (connection.first_message != kNoMessage &&
         connections_.message(connection.first_message).end <= acknowledged) {
    const std::uint32_t index = connection.first_message;
    const OutgoingMessage& message = connections_.message(index);
    if (cold.first_untold == index) {
      cold.first_untold = message.next;
      if (message.message.notify_sent) to_tell_.push_back(message.message);
    }
    connections_.retire_message(connection);
  }
  if (buffer == 0 || connection.first_message == kNoMessage) return;
  const std::uint64_t taken = connections_.acknowledged_bytes(connection) + buffer;
  while (cold.first_untold != kNoMessage && connections_.message(cold.first_untold).end_byte <= taken) {
    const OutgoingMessage& message = connections_.message(cold.first_untold);
    if (message.message.notify_sent) to_tell_.push_back(message.message);
    cold.first_untold = message.next;
  }
}

// Clients may start messages, but nothing that is acknowledged can come of it at once.
void Answers::tell_senders() {
  for (std::size_t i = 0; i < to_tell_.size(); ++i) {
    const Message message = to_tell_[i];
    side_.client.on_sent(message);
  }
  to_tell_.clear();
}

// The send buffer had room for the message as soon as it was given.
void Answers::tell_taken(SlotId slot, std::uint16_t generation) {
  if (connections_[slot].generation != generation || connections_[slot].first_message == kNoMessage) return;
  retire_messages(slot);
  tell_senders();
}

}  // namespace weft::sim::packet
