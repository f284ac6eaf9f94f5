// The receiving side of Transport: arrivals, ACKs one by one or held back for several packets, and NACKs.
#include <algorithm>

#include "sim/packet/transport.h"

namespace weft::sim::packet {

void Transport::expect(std::uint32_t from_partition, const FlowStart& start) {
  ReceiveTable& table = receive_[from_partition];
  if (start.receive_slot >= table.flows.size()) {
    table.flows.resize(start.receive_slot + 1);
    table.cold.resize(start.receive_slot + 1);
    if (holds_acks()) table.held.resize(start.receive_slot + 1);
  }
  ReceiveFlow& receiver = table.flows[start.receive_slot];
  const Message& message = start.message;
  receiver.arrivals.clear();
  receiver.packets = start.packets;
  receiver.marked = 0;
  receiver.source = message.source;
  receiver.number = start.flow_number;
  receiver.send_slot = start.send_slot;
  const std::uint32_t nic = hosts_.first_nic[message.destination] + start.reply_nic;
  receiver.reply_channel = hosts_.nics[nic].channel;
  table.cold[start.receive_slot] = {message, start.start, start.ideal};
  // Nothing is held any more for the slot's last flow: its last packet was acknowledged at once.
  if (holds_acks()) table.held[start.receive_slot] = {.nic = nic};
}

void Transport::packet_at_host(std::uint32_t channel, std::uint32_t handle) {
  fabric_.deliver(handle);
  const std::uint32_t way_back = channel ^ 1;
  if (setup_.config.receive_delay > Time()) [[unlikely]] {
    const std::uint32_t host = fabric_.packets()[handle].destination;
    const std::uint32_t port = channels_.cold[way_back].port;
    engine_.schedule(engine_.now() + setup_.config.receive_delay,
                     hosts_.nics[hosts_.first_nic[host] + port].entity, kReceive, handle,
                     static_cast<std::uint16_t>(port));
    return;
  }
  receive(handle, way_back);
}

void Transport::received(std::uint32_t handle, std::uint32_t port) {
  const std::uint32_t host = fabric_.packets()[handle].destination;
  receive(handle, hosts_.nics[hosts_.first_nic[host] + port].channel);
}

void Transport::receive(std::uint32_t handle, std::uint32_t way_back) {
  const Packet& packet = fabric_.packets()[handle];
  if (!packet.data()) {
    on_ack(handle);
  } else if (packet.returned()) [[unlikely]] {
    on_returned(handle);
  } else {
    on_data(handle, way_back);
  }
}

Transport::ReceiveFlow* Transport::receiver_of(const Packet& packet) {
  ReceiveFlow& receiver = table_of(packet).flows[packet.flow];
  return receiver.number == packet.flow_number && receiver.source == packet.source ? &receiver : nullptr;
}

// The same record goes back as the ACK; the mark stays on it as the echo.
void Transport::turn_round(Packet& packet, PacketKind kind, const ReceiveFlow& receiver) const {
  std::swap(packet.source, packet.destination);
  packet.flow = receiver.send_slot;
  packet.kind = kind;
  packet.clear(kTrimmed);
  packet.bytes = channels_.control_bytes;
  packet.set_cumulative(receiver.arrivals.first_missing());
}

void Transport::on_data(std::uint32_t handle, std::uint32_t way_back) {
  Packet& packet = fabric_.packets()[handle];
  const std::uint32_t slot = packet.flow;
  ReceiveTable& table = table_of(packet);
  ReceiveFlow* receiver = receiver_of(packet);
  const bool spray = setup_.config.nic_choice == NicChoice::kSpray;
  fabric_.packets().set_sack(handle, 0);
  if (receiver == nullptr) [[unlikely]] {
    // A needless retransmission of a flow that is over, and its slot in use again. When that happens depends
    // on partitions; so that nothing else does, it is acknowledged as if it had not.
    const std::uint32_t nic = hosts_.first_nic[packet.destination] + packet.reply_nic;
    std::swap(packet.source, packet.destination);
    packet.kind = PacketKind::kAck;
    packet.clear(kTrimmed);
    packet.set(kDuplicate);
    packet.bytes = channels_.control_bytes;
    packet.flow = kNone;
    packet.set_cumulative(0);
    ++counters_.duplicates;
    fabric_.inject(spray ? way_back : hosts_.nics[nic].channel, handle);
    return;
  }
  const std::uint32_t reply = spray ? way_back : receiver->reply_channel;
  const auto key = [&] { return FlowKey{part_of_host(packet.source)} << 32 | slot; };
  if (packet.trimmed()) [[unlikely]] {
    if (!receiver->arrivals.has(packet.number)) {
      if (holds_acks()) acknowledge_held(key());
      turn_round(packet, PacketKind::kNack, *receiver);
      fabric_.inject(reply, handle);
      return;
    }
    packet.clear(kTrimmed);
  }
  const bool holds = holds_acks();
  if (holds) [[unlikely]]
    part_from_held(key(), packet);
  const bool fresh = receiver->arrivals.add(packet.number);
  if (packet.marked()) ++receiver->marked;
  if (!fresh) {
    ++counters_.duplicates;
    packet.set(kDuplicate);
  }
  if (!holds) [[likely]] {
    turn_round(packet, PacketKind::kAck, *receiver);
    fabric_.inject(reply, handle);
  } else {
    hold_or_acknowledge(key(), reply, handle, fresh);
  }
  if (fresh && receiver->arrivals.first_missing() == receiver->packets) complete(table, slot);
}

void Transport::complete(const ReceiveTable& table, std::uint32_t slot) {
  const ColdReceive& cold = table.cold[slot];
  ++counters_.messages;
  counters_.bytes += cold.message.bytes;
  record(cold.message,
         {.source = cold.message.source,
          .destination = cold.message.destination,
          .bytes = cold.message.bytes,
          .start = cold.start,
          .finish = engine_.now(),
          .ideal = cold.ideal,
          .ecn_marked = table.flows[slot].marked},
         table.flows[slot].number);
  const Message message = cold.message;  // the callback may start flows, which moves the table
  client_.on_delivered(message);
}

// An ACK speaks of packets with one mark, and of no more than its bitmap holds: if what is held and this
// packet are too different, that goes ahead, before the packet counts as arrived.
void Transport::part_from_held(FlowKey key, const Packet& packet) {
  const HeldAck& held = held_of(key);
  if (held.packets == 0) return;
  const std::uint32_t lowest = std::min(packet.number, held.lowest);
  const std::uint32_t highest = std::max(packet.number, held.highest);
  if (packet.marked() != held.marked || highest - lowest >= 64) acknowledge_held(key);
}

// RFC 5681 §4.2 and RFC 8257 §3.2. At once: the first packet, the last one and the one that makes the message
// complete, one that came before, a change of the mark, and, on a single path, one out of order, which there
// is a sign of loss.
void Transport::hold_or_acknowledge(FlowKey key, std::uint32_t reply, std::uint32_t handle, bool fresh) {
  const ReceiveFlow& receiver = receive_[key >> 32].flows[static_cast<std::uint32_t>(key)];
  HeldAck& held = held_of(key);
  const Packet& packet = fabric_.packets()[handle];
  const std::uint32_t number = packet.number;
  const bool marked = packet.marked();
  const bool turned = marked != held.marked;
  held.marked = marked;
  const std::uint32_t first_missing = receiver.arrivals.first_missing();
  const bool in_order = first_missing == number + 1;
  const bool at_once = !fresh || turned || number == 0 || number + 1 == receiver.packets ||
                       first_missing == receiver.packets || (!in_order && !setup_.recovery.reordering) ||
                       held.packets + 1 >= setup_.config.ack_every;
  if (held.packets > 0) {
    fabric_.packets().release(held.handle);
    held.lowest = std::min(number, held.lowest);
    held.highest = std::max(number, held.highest);
  } else {
    held.lowest = held.highest = number;
  }
  held.handle = handle;
  held.reply_channel = reply;
  if (++held.packets > 1 && !at_once) return;
  if (at_once) {
    acknowledge_held(key);
    return;
  }
  // The first of several: it starts the clock.
  Nic& nic = hosts_.nics[held.nic];
  held.due_ps = (engine_.now() + setup_.config.ack_delay).ps();
  held.previous = nic.last_held;
  held.next = kNoFlow;
  (nic.last_held == kNoFlow ? nic.first_held : held_of(nic.last_held).next) = key;
  nic.last_held = key;
  if (nic.ack_timer) return;
  nic.ack_timer = true;
  engine_.schedule(Time::ps(held.due_ps), nic.entity, kAckTimer, held.nic);
}

// Sends what is held for the flow, if anything is.
void Transport::acknowledge_held(FlowKey key) {
  HeldAck& held = held_of(key);
  if (held.packets == 0) return;
  unlink_held(key);
  const ReceiveFlow& receiver = receive_[key >> 32].flows[static_cast<std::uint32_t>(key)];
  Packet& packet = fabric_.packets()[held.handle];
  packet.number = held.highest;
  turn_round(packet, PacketKind::kAck, receiver);
  fabric_.packets().set_sack(held.handle, receiver.arrivals.sack(held.highest));
  held.packets = 0;
  fabric_.inject(held.reply_channel, held.handle);
}

void Transport::unlink_held(FlowKey key) {
  HeldAck& held = held_of(key);
  Nic& nic = hosts_.nics[held.nic];
  if (held.previous == kNoFlow && nic.first_held != key) return;  // it goes out without having waited
  (held.previous == kNoFlow ? nic.first_held : held_of(held.previous).next) = held.next;
  (held.next == kNoFlow ? nic.last_held : held_of(held.next).previous) = held.previous;
  held.previous = held.next = kNoFlow;
}

// One event for all flows of a NIC. It may have been set for an ACK that has left meanwhile.
void Transport::ack_timer(std::uint32_t nic_number) {
  Nic& nic = hosts_.nics[nic_number];
  while (nic.first_held != kNoFlow && held_of(nic.first_held).due_ps <= engine_.now().ps()) {
    acknowledge_held(nic.first_held);
  }
  nic.ack_timer = nic.first_held != kNoFlow;
  if (nic.ack_timer) {
    engine_.schedule(Time::ps(held_of(nic.first_held).due_ps), nic.entity, kAckTimer, nic_number);
  }
}

}  // namespace weft::sim::packet
