#include "sim/packet/nic_turns.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/routing/source_route.h"

namespace weft::sim::packet {

bool NicTurns::may_send(const Connection& connection) const {
  const congestion::Recovery& recovery = *connection.recovery;
  const std::uint32_t mtu = side_.setup.config.mtu_bytes;
  const bool again = recovery.lost() > 0;
  if (!again) {
    if (recovery.next_new() == recovery.packets()) return false;
    // Keeps the bookkeeping in proportion to the window while an old packet is missing.
    const std::uint64_t span = recovery.next_new() - recovery.first_unacked();
    if (span * mtu > 16 * connection.window_bytes + 64 * std::uint64_t{mtu}) return false;
    if (span >= recovery.most_span()) return false;
  }
  if (connection.paused || connection.sent_bytes >= connection.credit_bytes) [[unlikely]]
    return false;
  if (recovery.in_flight_packets() == 0) return connection.window_bytes > 0;
  const std::uint32_t payload = again ? mtu : recovery.payload(recovery.next_new());
  return recovery.in_flight_bytes() + payload <= connection.window_bytes;
}

// Where a window is small beside what an ACK is for, the sender asks for eight in each window, or one for
// each packet: else it would stand still until the receiver has counted enough, or its clock has run out.
bool NicTurns::asks_for_ack(Connection& connection) const {
  constexpr std::uint64_t kOfWindow = 8;
  const PacketConfig& config = side_.setup.config;
  if (connection.window_bytes >= kOfWindow * config.ack_every * config.mtu_bytes) return false;
  if (++connection.not_asked * kOfWindow * config.mtu_bytes < connection.window_bytes) return false;
  connection.not_asked = 0;
  return true;
}

// Does its selector keep it waiting? It is asked again at the time that it names.
bool NicTurns::hold(SlotId slot) {
  Connection& connection = connections_[slot];
  const congestion::Recovery& recovery = *connection.recovery;
  const Time now = side_.engine.now();
  const Time until =
      connection.selector->held_until({.now = now,
                                       .unacknowledged = recovery.next_new() - recovery.first_unacked(),
                                       .again = recovery.lost() > 0});
  if (until <= now) return false;
  if (until < Time::max() && !connection.pacing) {
    connection.pacing = true;
    side_.engine.schedule(until, side_.hosts.nics[connection.nic].entity, kPace, slot, connection.generation);
  }
  return true;
}

void NicTurns::begin(SlotId slot) {
  Connection& connection = connections_[slot];
  const Message& message = connections_.message(connections_.cold(slot).last_message).message;
  if (side_.setup.hears(congestion::kMessages)) {
    connection.control->on_message(side_.engine.now(), connection.recovery->payload_for(message.bytes),
                                   connections_.cold(slot).given_bytes -
                                       std::min(connections_.cold(slot).given_bytes, connection.sent_bytes));
    connections_.allow(slot);
  }
  const std::uint64_t buffer = side_.setup.config.connections.send_buffer_bytes;
  // The client isn't called back from within its own call.
  if (buffer > 0 && message.notify_sent &&
      connections_.cold(slot).given_bytes <= connections_.acknowledged_bytes(connection) + buffer) {
    side_.engine.schedule(side_.engine.now(), side_.hosts.nics[connection.nic].entity, kTaken, slot,
                          connection.generation);
  }
  // Its NIC may have seen to the pause's end while there was nothing to send.
  if (connection.paused)
    arm_timer(side_.hosts.nics[connection.nic], Time::ps(connections_.cold(slot).pause_end_ps));
  wake(slot);
}

void NicTurns::wake(SlotId slot) {
  Connection& connection = connections_[slot];
  if (connection.waiting || connection.pacing || !may_send(connection) || is_held(slot)) return;
  Engine& engine = side_.engine;
  if (connection.rate.bps() > 0 && connection.next_send_ps > engine.now().ps()) {
    connection.pacing = true;
    engine.schedule(Time::ps(connection.next_send_ps), side_.hosts.nics[connection.nic].entity, kPace, slot,
                    connection.generation);
    return;
  }
  Nic& nic = side_.hosts.nics[connection.lane];
  connection.waiting = true;
  connection.next_waiting = kNoSlot;
  (nic.first_waiting == kNoSlot ? nic.first_waiting : connections_[nic.last_waiting].next_waiting) = slot;
  nic.last_waiting = slot;
  if (nic.busy) return;
  if (side_.fabric.scheduled(nic.channel)) {
    if (side_.fabric.takes_data(nic.channel)) {
      serve(connection.lane);
    } else {
      side_.fabric.await_room(nic.channel);
    }
  } else if (side_.fabric.free_at(nic.channel) <= engine.now()) {
    serve(connection.lane);
  } else {
    nic.busy = true;
    engine.schedule(side_.fabric.free_at(nic.channel), nic.entity, kNicReady, connection.lane);
  }
}

void NicTurns::pace(SlotId slot, std::uint16_t generation) {
  if (connections_[slot].generation != generation) return;
  connections_[slot].pacing = false;
  wake(slot);
}

void NicTurns::nic_ready(NicId nic) {
  side_.hosts.nics[nic].busy = false;
  serve(nic);
}

void NicTurns::serve(NicId nic_number) {
  Nic& nic = side_.hosts.nics[nic_number];
  while (nic.first_waiting != kNoSlot) {
    const SlotId slot = nic.first_waiting;
    Connection& connection = connections_[slot];
    nic.first_waiting = connection.next_waiting;
    connection.waiting = false;
    if (connection.recovery == nullptr) {  // closed while it waited to send something again
      connections_.reuse(slot);
      continue;
    }
    if (!may_send(connection) || is_held(slot)) continue;
    nic.busy = true;  // keeps wake() from coming back here
    send_packet(slot);
    wake(slot);
    if (side_.fabric.scheduled(nic.channel)) {
      nic.busy = false;
      if (nic.first_waiting != kNoSlot) side_.fabric.await_room(nic.channel);
      return;
    }
    nic.busy = nic.first_waiting != kNoSlot;
    if (nic.busy) {
      side_.engine.schedule(side_.fabric.free_at(nic.channel), nic.entity, kNicReady, nic_number);
    }
    return;
  }
}

void NicTurns::send_packet(SlotId slot) {
  Connection& connection = connections_[slot];
  congestion::Recovery& recovery = *connection.recovery;
  const TransportSetup& setup = side_.setup;
  const std::uint32_t number = recovery.next_to_send();
  const bool again = number != recovery.next_new();
  NicId nic_number = connection.lane;
  routing::Path path{connection.entropy};
  if (connection.selector != nullptr) {
    path = choose_path(slot, number, again);
    if (path.nic != routing::Path::kAnyNic && side_.hosts.nic_of_endpoint.empty()) [[unlikely]] {
      const HostId host = connection.source;
      nic_number = side_.hosts.nic_of(host, PortId(path.nic % side_.hosts.nics_of(host)));
      connection.lane = nic_number;
    }
  }
  const Nic& nic = side_.hosts.nics[nic_number];
  const Time start = std::max(side_.engine.now(), side_.fabric.free_at(nic.channel));
  if (setup.recovery_kind.hears_paths) recovery.on_path(path.entropy);
  recovery.on_send(number, start);

  PacketPool& packets = side_.fabric.packets();
  const PacketHandle handle = packets.acquire();
  const std::uint32_t payload = recovery.payload(number);
  const std::uint32_t bytes = payload + setup.config.header_bytes;
  packets[handle] = Packet{.sent_ps = start.ps(),
                           .flow = connection.receive_slot,
                           .number = number,
                           .entropy = path.entropy,
                           .destination = connection.target,
                           .source = side_.hosts.endpoint_of(connection.source, nic_number),
                           .flow_number = connection.number,
                           .bytes = bytes,
                           .reply_nic = connection.reply_nic};
  connection.sent_bytes += payload;
  if (again) [[unlikely]] {
    packets[handle].set(kAgain);
    count_again(slot, number);
  }
  if (connection.rate.bps() > 0) {
    connection.next_send_ps = start.ps() + connection.rate.serialization(bytes).ps();
  }
  if (setup.config.nic_choice == NicChoice::kSpray) [[unlikely]] {
    if (++connection.lane == side_.hosts.first_nic[connection.source + 1]) {
      connection.lane = side_.hosts.nic_of(connection.source, PortId(0));
    }
  }
  if (setup.control.hears != 0) [[unlikely]] {
    if (setup.hears(congestion::kSends)) {
      connection.control->on_send({.at = start, .bytes = payload, .again = again});
      connections_.allow(slot);
    }
    packets.credits().set(handle, connection.control->wanted_credit());
  }
  if (setup.config.ack_every > 1 && asks_for_ack(connection)) packets[handle].set(kAsksAck);
  if (packets.routes().kept()) [[unlikely]]
    take_route(handle, nic.channel, path);
  side_.fabric.inject(nic.channel, handle);
  if (recovery.in_flight_packets() == 1) arm_timer(side_.hosts.nics[connection.nic], recovery.deadline());
}

// Asks the connection's selector, and keeps what it answers, so that it can be told what became of the
// packet.
routing::Path NicTurns::choose_path(SlotId slot, std::uint32_t number, bool again) {
  const Connection& connection = connections_[slot];
  const congestion::Recovery& recovery = *connection.recovery;
  const routing::Path path =
      connection.selector->next({.now = side_.engine.now(),
                                 .number = number,
                                 .in_flight = recovery.in_flight_packets(),
                                 .unacknowledged = recovery.next_new() - recovery.first_unacked(),
                                 .again = again});
  if (path.route != nullptr && !side_.setup.policy.source_routes) {
    throw std::logic_error("routing policy " + side_.setup.policy.info.name +
                           " names a route, but does not declare that it does (Policy::source_routes)");
  }
  if (!connections_.keeps_paths()) return path;
  std::vector<routing::Path>& ring = connections_.cold(slot).paths;
  const std::uint32_t first = connection.recovery->first_unacked();
  if (number - first >= ring.size()) {
    std::vector<routing::Path> wider(std::max<std::size_t>(16, ring.size() * 2));
    for (std::uint32_t n = first; n != number; ++n) {
      wider[n & (wider.size() - 1)] = ring.empty() ? routing::Path() : ring[n & (ring.size() - 1)];
    }
    ring = std::move(wider);
  }
  ring[number & (ring.size() - 1)] = path;
  return path;
}

// A packet that follows a route has it beside it; the copy outlives the connection.
void NicTurns::take_route(PacketHandle handle, ChannelId nic_channel, const routing::Path& path) {
  RouteRecord record;
  if (path.route != nullptr) {
    if (!path.route_checked) {
      const std::uint32_t destination = side_.fabric.packets()[handle].destination;
      routing::check_route(side_.channels.topology, nic_channel, destination, *path.route);
    }
    record = {.route = *path.route, .named = path.route};
  }
  side_.fabric.packets().routes().set(handle, record);
}

void NicTurns::count_again(SlotId slot, std::uint32_t number) {
  ++side_.counters.retransmissions;
  std::uint32_t m = connections_[slot].first_message;
  while (connections_.message(m).end <= number) m = connections_.message(m).next;
  ++connections_.message(m).retransmissions;
}

// One timer per NIC. Its connections' deadlines move all the time; it looks at them at most once per
// timer_grain.
void NicTurns::arm_timer(Nic& nic, Time deadline) {
  if (deadline.ps() >= nic.timer_ps) return;
  const std::int64_t when =
      std::max({deadline.ps(), nic.last_timer_ps + side_.setup.timer_grain.ps(), side_.engine.now().ps()});
  if (when >= nic.timer_ps) return;
  nic.timer_ps = when;
  side_.engine.schedule(Time::ps(when), nic.entity, kNicTimer,
                        static_cast<std::uint32_t>(&nic - side_.hosts.nics.data()));
}

void NicTurns::sender_timer(SlotId slot, std::uint16_t generation) {
  Connection& connection = connections_[slot];
  if (connection.generation != generation || connections_.cold(slot).wake_ps != side_.engine.now().ps())
    return;
  connections_.cold(slot).wake_ps = INT64_MAX;
  connection.control->on_timer(side_.engine.now());
  connections_.allow(slot);
  wake(slot);
}

}  // namespace weft::sim::packet
