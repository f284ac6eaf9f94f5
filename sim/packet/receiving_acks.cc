// When answers leave: ACKs one by one or held back for several packets, notifications and credits.
#include <algorithm>

#include "sim/packet/receiving_side.h"
#include "sim/routing/path_draws.h"

namespace weft::sim::packet {

using congestion::AckTime;

// An ACK speaks of packets with one mark, and of no more than its bitmap holds: if what is held and this
// packet are too different, that goes ahead, before the packet counts as arrived.
void ReceivingSide::part_from_held(Key key, const Packet& packet) {
  const HeldAck& held = held_of(key);
  if (held.packets == 0) return;
  const std::uint32_t lowest = std::min(packet.number, held.lowest);
  const std::uint32_t highest = std::max(packet.number, held.highest);
  if (packet.marked() != held.marked || highest - lowest >= 64) acknowledge_held(key);
}

// RFC 5681 §4.2 and RFC 8257 §3.2. At once: the first packet, the last one and the one that makes a message
// complete, one that came before, one whose sender asks for the ACK, a change of the mark, and, on a single
// path, one out of order, which there is a sign of loss. Every marked packet over several paths, as the mark
// speaks of its path, and an ACK of the newest's path alone; and where the control's transport says so.
void ReceivingSide::hold_or_acknowledge(Key key, ChannelId reply, PacketHandle handle, bool fresh,
                                        AckTime when) {
  const Connection& connection = of(key);
  HeldAck& held = held_of(key);
  const Packet& packet = side_.fabric.packets()[handle];
  const std::uint32_t number = packet.number;
  const bool marked = packet.marked();
  const bool turned = marked != held.marked;
  held.marked = marked;
  const std::uint32_t first_missing = connection.arrivals.first_missing();
  const bool in_order = first_missing == number + 1;
  const bool reordering = side_.setup.recovery.reordering;
  const bool marks_at_once = reordering || side_.setup.control.marks_acked_at_once;
  const bool by_rule = !fresh || packet.asks_ack() || turned || (marked && marks_at_once) || number == 0 ||
                       number + 1 == connection.message_end || first_missing == connection.message_end ||
                       (!in_order && !reordering) || held.packets + 1 >= side_.setup.config.ack_every;
  // A message that is complete is acknowledged now, so that its connection can be over.
  const bool complete = fresh && first_missing >= connection.message_end;
  const bool at_once = complete || when == AckTime::kNow || (when == AckTime::kByRule && by_rule);
  if (held.packets > 0) {
    side_.fabric.packets().release(held.handle);
    held.lowest = std::min(number, held.lowest);
    held.highest = std::max(number, held.highest);
  } else {
    held.lowest = held.highest = number;
  }
  held.handle = handle;
  held.reply_channel = reply;
  held.newest_ps = side_.engine.now().ps();
  if (++held.packets > 1 && !at_once) return;
  if (at_once) {
    acknowledge_held(key);
  } else if (when == AckTime::kByRule) {
    start_clock(key, held);
  }
}

// The first of several.
void ReceivingSide::start_clock(Key key, HeldAck& held) {
  Nic& nic = side_.hosts.nics[held.nic];
  held.due_ps = (side_.engine.now() + side_.setup.config.ack_delay).ps();
  held.previous = nic.last_held;
  held.next = kNoConnection;
  (nic.last_held == kNoConnection ? nic.first_held : held_of(nic.last_held).next) = key;
  nic.last_held = key;
  if (nic.ack_timer) return;
  nic.ack_timer = true;
  side_.engine.schedule(Time::ps(held.due_ps), nic.entity, kAckTimer, held.nic);
}

// Sends what is held for the connection, if anything is.
void ReceivingSide::acknowledge_held(Key key) {
  HeldAck& held = held_of(key);
  if (held.packets == 0) return;
  unlink_held(key);
  const Connection& connection = of(key);
  PacketPool& packets = side_.fabric.packets();
  Packet& packet = packets[held.handle];
  packet.number = held.highest;
  turn_round(packet, PacketKind::kAck, connection);
  packets.acks().set(held.handle, {.sack = connection.arrivals.sack(held.highest),
                                   .held_ps = side_.engine.now().ps() - held.newest_ps});
  held.packets = 0;
  side_.fabric.inject(held.reply_channel, held.handle);
}

void ReceivingSide::unlink_held(Key key) {
  HeldAck& held = held_of(key);
  Nic& nic = side_.hosts.nics[held.nic];
  if (held.previous == kNoConnection && nic.first_held != key) return;  // it goes out without having waited
  (held.previous == kNoConnection ? nic.first_held : held_of(held.previous).next) = held.next;
  (held.next == kNoConnection ? nic.last_held : held_of(held.next).previous) = held.previous;
  held.previous = held.next = kNoConnection;
}

// One event for all connections of a NIC. It may have been set for an ACK that has left meanwhile.
void ReceivingSide::ack_timer(NicId nic_number) {
  Nic& nic = side_.hosts.nics[nic_number];
  while (nic.first_held != kNoConnection && held_of(nic.first_held).due_ps <= side_.engine.now().ps()) {
    acknowledge_held(nic.first_held);
  }
  nic.ack_timer = nic.first_held != kNoConnection;
  if (nic.ack_timer) {
    side_.engine.schedule(Time::ps(held_of(nic.first_held).due_ps), nic.entity, kAckTimer, nic_number);
  }
}

// A packet of the receiver's own.
void ReceivingSide::send_to_sender(Key key, PacketKind kind, std::uint64_t credit) {
  const Connection& connection = of(key);
  const ColdConnection& cold = cold_of(key);
  const Nic& nic = side_.hosts.nics[cold.nic];
  PacketPool& packets = side_.fabric.packets();
  const PacketHandle handle = packets.acquire();
  const std::uint64_t identity = routing::flow_identity(connection.source, connection.number);
  const auto entropy = static_cast<std::uint32_t>(routing::flow_draws(side_.engine.seed(), identity).next());
  packets[handle] = Packet{
      .sent_ps = side_.engine.now().ps(),
      .flow = connection.send_slot,
      .entropy = entropy,
      .destination = cold.sender,
      .source = side_.channels.topology.node(side_.channels.topology.channels()[nic.channel].from).index,
      .flow_number = connection.number,
      .bytes = side_.channels.control_bytes,
      .kind = kind};
  packets.acks().set(handle, {});
  packets.credits().set(handle, credit);
  side_.fabric.inject(nic.channel, handle);
}

}  // namespace weft::sim::packet
