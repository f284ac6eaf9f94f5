#include "sim/packet/connections.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/routing/path_draws.h"
#include "sim/units/input_error.h"
#include "sim/units/plugin_modules.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint64_t kJitterPurpose = 0x717;

}  // namespace

Connections::Connections(HostSide& side)
    : side_(side), receive_slots_(side.channels.partition.parts), least_times_(side.channels) {}

Connections::~Connections() {
  for (Connection& connection : connections_) {
    if (connection.recovery == nullptr) continue;
    if (connection.control != nullptr) connection.control->~Sender();  // else making it failed
    connection.recovery->~Recovery();
  }
}

SlotId Connections::new_slot() {
  if (!unused_.empty()) {
    const SlotId slot = unused_.back();
    unused_.pop_back();
    return slot;
  }
  const SlotId slot{static_cast<std::uint32_t>(connections_.size())};
  connections_.emplace_back();
  cold_.emplace_back();
  if (slot % kSlabSlots == 0) {
    slabs_.push_back(std::make_unique<std::byte[]>(kSlabSlots * side_.setup.slot_bytes));
  }
  return slot;
}

std::uint32_t Connections::new_message(const OutgoingMessage& message) {
  if (unused_messages_.empty()) {
    messages_.push_back(message);
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }
  const std::uint32_t index = unused_messages_.back();
  unused_messages_.pop_back();
  messages_[index] = message;
  return index;
}

PortId Connections::choose_port(const Message& message, std::uint32_t entropy) {
  Hosts& hosts = side_.hosts;
  const auto load = [&](std::uint32_t nic) {
    return hosts.nics[hosts.first_nic[message.source] + nic].load_packets;
  };
  return PortId(hosts.picker.source(side_.setup.config.nic_choice, message, entropy,
                                    hosts.nics_of(message.source), load));
}

// The receiver's NIC, from which it also answers.
PortId Connections::reply_port(const Message& message, PortId port) const {
  const Hosts& hosts = side_.hosts;
  return PortId(hosts.picker.destination(side_.setup.config.nic_choice, message, port,
                                         hosts.nics_of(message.destination)));
}

Bandwidth Connections::line_rate(NicId nic, HostId host) const {
  const Hosts& hosts = side_.hosts;
  const auto rate_of = [&](std::uint32_t n) { return side_.channels.cold[hosts.nics[n].channel].rate; };
  if (side_.setup.config.nic_choice != NicChoice::kSpray) return rate_of(nic);
  std::int64_t bps = 0;
  for (std::uint32_t n = hosts.first_nic[host]; n < hosts.first_nic[host + 1]; ++n) bps += rate_of(n).bps();
  return Bandwidth::bps(bps);
}

// The connection of a message, new or not.
SlotId Connections::find_or_open(const Message& message, std::uint32_t number, const Shape& shape,
                                 Time& one_way) {
  const PacketConfig& config = side_.setup.config;
  const bool per_message = config.connections.per_message;
  const std::uint64_t identity =
      per_message ? routing::flow_identity(message.source, number)
                  : routing::connection_identity(message.source, message.destination, message.source_nic,
                                                 message.destination_nic, message.channel);
  const auto entropy = static_cast<std::uint32_t>(routing::flow_draws(side_.engine.seed(), identity).next());
  if (per_message) return open(message, {identity, number, choose_port(message, entropy)}, shape, one_way);
  const PortId port = config.nic_choice == NicChoice::kSpray ? PortId(0) : choose_port(message, entropy);
  const PortId reply = routing::asks_messages(config.nic_choice) ? reply_port(message, port) : port;
  const ConnectionKey key{HostId(message.source), HostId(message.destination), message.channel,
                          static_cast<std::uint16_t>(reply << 8 | port)};
  SlotId slot = table_.find(key);
  if (slot != kNoSlot && connections_[slot].first_message == kNoMessage) {
    const Time now = side_.engine.now();
    const Time idle = now - Time::ps(cold_[slot].idle_since_ps);
    unlink(slot, first_idle_, &last_idle_);
    if (idle < side_.setup.idle) {
      if (idle > Time()) connections_[slot].control->on_idle(now, idle);
    } else {
      close(slot);
      slot = kNoSlot;
    }
  }
  if (slot != kNoSlot) return slot;
  forget_idle();
  slot = open(message, {identity, side_.hosts.connection_count[message.source]++, port}, shape, one_way);
  cold_[slot].key = key;
  table_.insert(key, slot);
  return slot;
}

// Throws InputError if no way leads there from its NIC.
void Connections::aim(Connection& connection, const Message& message, PortId port) const {
  const PortId reply = reply_port(message, port);
  connection.reply_nic = static_cast<std::uint8_t>(reply);
  connection.target = message.destination;
  side_.hosts.picker.require_way(message, port);
  const routing::NicNetwork* const nics = side_.hosts.picker.network();
  if (nics != nullptr) connection.target = nics->endpoint(message.destination, reply);
}

std::unique_ptr<routing::PathSelector> Connections::make_selector(const Connection& connection,
                                                                  std::uint64_t identity,
                                                                  const RandomStream& random) {
  const routing::PathSetup of_paths{.connection = identity,
                                    .source = side_.hosts.endpoint_of(connection.source, connection.nic),
                                    .destination = connection.target,
                                    .random = random,
                                    .topology = &side_.channels.topology,
                                    .packet_lifetime = side_.channels.packet_lifetime,
                                    .signals = side_.signals.paths.data()};
  return made_by("routing policy", side_.setup.policy.info.name, "PathSelectorMaker",
                 [&] { return side_.setup.make_selector(of_paths); });
}

SlotId Connections::open(const Message& message, const Opening& opening, const Shape& shape, Time& one_way) {
  const TransportSetup& setup = side_.setup;
  const PacketConfig& config = setup.config;
  const std::uint64_t seed = side_.engine.seed();
  const SlotId slot = new_slot();
  RandomStream random = routing::flow_draws(seed, opening.identity);
  ++side_.counters.connections;

  Connection& connection = connections_[slot];
  const HostId source{message.source};
  const NicId nic = side_.hosts.nic_of(source, opening.port);
  connection = Connection{.nic = nic,
                          .lane = nic,
                          .source = source,
                          .destination = HostId(message.destination),
                          .number = opening.number,
                          .entropy = static_cast<std::uint32_t>(random.next()),
                          .generation = connection.generation};
  aim(connection, message, opening.port);
  const Channels::PathTimes path = path_times(connection, connection.nic, shape);
  const Time hosts = config.host_round_trip();
  const Time round_trip = path.round_trip + hosts;
  const Time longest = path.round_trip * setup.policy.longest_path + hosts;
  const auto jitter = static_cast<std::uint32_t>(
      config.timeout_jitter > 0 ? RandomStream(seed, opening.identity, kJitterPurpose).next() : 0);
  const Bandwidth line_rate = this->line_rate(nic, source);
  const congestion::RecoverySetup of_recovery{.config = setup.recovery,
                                              .mtu_bytes = config.mtu_bytes,
                                              .base_rtt = round_trip,
                                              .longest_rtt = longest,
                                              .line_rate = line_rate,
                                              .random = jitter,
                                              .rings = &rings_,
                                              .losses = keeps_paths() ? &losses_ : nullptr,
                                              .signals = side_.signals.recoveries.data()};
  connection.recovery = made_by("loss recovery", setup.recovery_kind.info.name, "RecoveryFactory::construct",
                                [&] { return setup.recoveries->construct(state(slot), of_recovery); });
  const congestion::FlowInfo of_control{.mtu_bytes = config.mtu_bytes,
                                        .line_rate = line_rate,
                                        .base_rtt = round_trip,
                                        .longest_rtt = longest,
                                        .network_rtt = setup.longest_round_trip,
                                        .host_delay = hosts,
                                        .answer_wait = path.answer_wait,
                                        .bdp_bytes = bytes_in(line_rate, round_trip + path.answer_wait),
                                        .hops = path.hops,
                                        .signals = side_.signals.senders.data(),
                                        .random = connection.entropy};
  connection.control =
      made_by("congestion control", setup.control.info.name, "SenderFactory::construct",
              [&] { return setup.senders->construct(state(slot) + setup.recovery_bytes, of_control); });
  connection.hops = static_cast<std::uint16_t>(path.hops);
  ColdConnection& cold = cold_[slot];
  cold = {};
  one_way = ideal_time(connection, shape, path);
  if (setup.make_selector) {
    cold.selector = make_selector(connection, opening.identity, random);
  }
  connection.selector = cold.selector.get();
  connection.control->start(side_.engine.now());
  allow(slot);
  connection.receive_slot = new_receive_slot(side_.part_of_host(message.destination), slot);
  return slot;
}

ReceiveSlotId Connections::new_receive_slot(std::uint32_t part, SlotId sender) {
  ReceiveSlots& slots = receive_slots_[part];
  if (slots.unused.empty()) {
    slots.senders.push_back(sender);
    return ReceiveSlotId(static_cast<std::uint32_t>(slots.senders.size() - 1));
  }
  const ReceiveSlotId receive = slots.unused.back();
  slots.unused.pop_back();
  slots.senders[receive] = sender;
  return receive;
}

// Counts the packets that carry its payload; there may be redundant ones beside them.
Connections::Shape Connections::shape_of(std::uint64_t bytes) const {
  const PacketConfig& config = side_.setup.config;
  const std::uint64_t mtu = config.mtu_bytes;
  const std::uint64_t packets = std::max<std::uint64_t>(1, bytes / mtu + (bytes % mtu != 0 ? 1 : 0));
  if (packets > std::numeric_limits<std::uint32_t>::max()) refuse(bytes);
  return {static_cast<std::uint32_t>(packets), static_cast<std::uint32_t>(bytes - (packets - 1) * mtu)};
}

void Connections::refuse(std::uint64_t bytes) const {
  throw InputError("a message of " + std::to_string(bytes) +
                   " bytes has, with those before it on its connection, "
                   "more than 2^32 packets of " +
                   std::to_string(side_.setup.config.mtu_bytes) +
                   " bytes; expected a larger mtu or smaller messages");
}

Channels::PathTimes Connections::path_times(const Connection& connection, NicId nic,
                                            const Shape& shape) const {
  const PacketConfig& config = side_.setup.config;
  return side_.channels.path_times(side_.hosts.nics[nic].channel, HostId(connection.target),
                                   connection.entropy, config.mtu_bytes + config.header_bytes, shape.packets,
                                   shape.last_bytes + config.header_bytes);
}

bool Connections::spreads() const {
  const TransportSetup& setup = side_.setup;
  return setup.config.nic_choice == NicChoice::kSpray || setup.make_selector ||
         setup.policy.make_plan != nullptr;
}

// Those of its source that it leaves by.
std::span<const ChannelId> Connections::nics_of(const Connection& connection) {
  const Hosts& hosts = side_.hosts;
  const bool sprays = side_.setup.config.nic_choice == NicChoice::kSpray;
  const NicId first{sprays ? hosts.first_nic[connection.source] : connection.nic};
  const NicId end{sprays ? hosts.first_nic[connection.source + 1] : connection.nic + 1};
  ideal_nics_.clear();
  for (NicId nic = first; nic < end; ++nic) ideal_nics_.push_back(hosts.nics[nic].channel);
  return ideal_nics_;
}

Time Connections::slowed_by(const Connection& connection, std::uint64_t bytes) {
  if (spreads()) return least_times_.slowed_by(nics_of(connection), HostId(connection.target), bytes);
  return side_.channels.slowed_by(side_.hosts.nics[connection.nic].channel, HostId(connection.target),
                                  connection.entropy, bytes);
}

// Gives the time of a message alone in the network, over the paths that its packets really use.
Time Connections::ideal_time(const Connection& connection, const Shape& shape,
                             const Channels::PathTimes& path) {
  const PacketConfig& config = side_.setup.config;
  if (!spreads()) return path.one_way;
  std::uint32_t hops = path.hops;
  if (config.nic_choice == NicChoice::kSpray) {
    const NicId end{side_.hosts.first_nic[connection.source + 1]};
    for (NicId nic{side_.hosts.first_nic[connection.source]}; nic < end; ++nic) {
      if (nic != connection.nic) hops = std::min(hops, path_times(connection, nic, shape).hops);
    }
  }
  return least_times_.one_way(nics_of(connection), HostId(connection.target), hops,
                              config.mtu_bytes + config.header_bytes, shape.packets,
                              shape.last_bytes + config.header_bytes);
}

// What waits in a system's buffer is a stream of bytes: a few more go with the packet at its end.
bool Connections::rides_along(const Message& message, const congestion::Recovery& recovery) const {
  return message.control && message.bytes == 0 && side_.setup.config.connections.send_buffer_bytes > 0 &&
         recovery.next_new() < recovery.packets();
}

FlowStart Connections::start(const Message& message, std::uint32_t number) {
  const PacketConfig& config = side_.setup.config;
  const Shape shape = shape_of(message.bytes);
  Time one_way;
  const SlotId slot = find_or_open(message, number, shape, one_way);
  Connection& connection = connections_[slot];
  ColdConnection& cold = cold_[slot];
  congestion::Recovery& recovery = *connection.recovery;
  const std::uint32_t first = recovery.packets();
  const std::uint64_t packets = rides_along(message, recovery) ? 0 : recovery.packets_for(message.bytes);
  if (first + packets > std::numeric_limits<std::uint32_t>::max()) refuse(message.bytes);
  if (packets > 0) recovery.append(message.bytes);
  side_.hosts.nics[connection.nic].load_packets += packets;
  cold.given_bytes += message.bytes;
  const std::uint32_t added = new_message({.message = message,
                                           .end_byte = cold.given_bytes,
                                           .first = first,
                                           .end = recovery.packets(),
                                           .number = number});
  const bool opens = first == 0;
  if (connection.first_message == kNoMessage) {
    connection.first_message = added;
    connection.first_end = recovery.packets();
    go_live(slot);
  } else {
    messages_[cold.last_message].next = added;
  }
  cold.last_message = added;
  if (cold.first_untold == kNoMessage) cold.first_untold = added;

  if (!opens) one_way = ideal_time(connection, shape, path_times(connection, connection.nic, shape));
  // Ideals are those of links as they were built; what bounds a message are links as they are.
  Time alone = one_way + config.host_one_way();
  if (side_.channels.degraded) [[unlikely]] {
    const std::uint64_t on_wire = message.bytes + std::uint64_t{shape.packets} * config.header_bytes;
    alone += slowed_by(connection, on_wire);
  }
  Message to_come = message;
  to_come.alone_ps = static_cast<float>(alone.ps());
  // What a send buffer takes is not acknowledged yet when its sender is told.
  if (config.connections.send_buffer_bytes == 0) messages_[added].message.alone_ps = to_come.alone_ps;
  return {.receive_slot = connection.receive_slot,
          .send_slot = slot,
          .flow_number = connection.number,
          .message_number = number,
          .packets = static_cast<std::uint32_t>(packets),
          .start = side_.engine.now(),
          .ideal = one_way + config.host_one_way(),
          .sender = side_.hosts.endpoint_of(connection.source, connection.nic),
          .reply_nic = connection.reply_nic,
          .opens = opens,
          .message = to_come};
}

std::uint64_t Connections::acknowledged_bytes(const Connection& connection) const {
  const OutgoingMessage& oldest = messages_[connection.first_message];
  const std::uint64_t packets = connection.recovery->first_unacked() - oldest.first;
  return oldest.end_byte - oldest.message.bytes +
         std::min(oldest.message.bytes, packets * side_.setup.config.mtu_bytes);
}

void Connections::retire_message(Connection& connection) {
  const std::uint32_t index = connection.first_message;
  const OutgoingMessage& message = messages_[index];
  side_.hosts.nics[connection.nic].load_packets -= message.end - message.first;
  if (side_.setup.config.record_flows) {
    sent_.push_back({connection.source, message.number, message.end - message.first + message.retransmissions,
                     message.retransmissions});
  }
  connection.first_message = message.next;
  if (message.next != kNoMessage) connection.first_end = messages_[message.next].end;
  unused_messages_.push_back(index);
}

// The control's own time to be called may have changed.
void Connections::set_timer(SlotId slot) {
  const Connection& connection = connections_[slot];
  const std::int64_t wake = connection.control->wake_at().ps();
  if (wake == Time::max().ps() || wake == cold_[slot].wake_ps) {
    if (wake == Time::max().ps()) cold_[slot].wake_ps = INT64_MAX;
    return;
  }
  cold_[slot].wake_ps = std::max(wake, side_.engine.now().ps());
  side_.engine.schedule(Time::ps(cold_[slot].wake_ps), side_.hosts.nics[connection.nic].entity, kSenderTimer,
                        slot, connection.generation);
}

// A connection is in one of two kinds of lists, each linked both ways.
void Connections::link(SlotId slot, SlotId behind, SlotId before) {
  connections_[slot].previous = behind;
  connections_[slot].next = before;
  if (behind != kNoSlot) connections_[behind].next = slot;
  if (before != kNoSlot) connections_[before].previous = slot;
}

void Connections::unlink(SlotId slot, SlotId& first, SlotId* last) {
  const Connection& connection = connections_[slot];
  if (connection.previous != kNoSlot) connections_[connection.previous].next = connection.next;
  if (connection.next != kNoSlot) connections_[connection.next].previous = connection.previous;
  if (first == slot) first = connection.next;
  if (last != nullptr && *last == slot) *last = connection.previous;
}

// It has something to send again: its NIC looks at its deadlines.
void Connections::go_live(SlotId slot) {
  Nic& nic = side_.hosts.nics[connections_[slot].nic];
  link(slot, kNoSlot, nic.first_live);
  nic.first_live = slot;
  ++live_;
}

// Everything is acknowledged.
void Connections::rest(SlotId slot) {
  Connection& connection = connections_[slot];
  unlink(slot, side_.hosts.nics[connection.nic].first_live, nullptr);
  --live_;
  if (side_.setup.config.connections.per_message) {
    close(slot);
    return;
  }
  connection.recovery->rest();
  cold_[slot].paths = {};
  cold_[slot].idle_since_ps = side_.engine.now().ps();
  link(slot, last_idle_, kNoSlot);
  if (first_idle_ == kNoSlot) first_idle_ = slot;
  last_idle_ = slot;
}

// Makes room: two for each one that opens, so the number of those that are kept for nothing shrinks.
void Connections::forget_idle() {
  const std::int64_t before = side_.engine.now().ps() - side_.setup.idle.ps();
  for (int i = 0; i < 2 && first_idle_ != kNoSlot && cold_[first_idle_].idle_since_ps <= before; ++i) {
    const SlotId slot = first_idle_;
    unlink(slot, first_idle_, &last_idle_);
    close(slot);
  }
}

void Connections::close(SlotId slot) {
  Connection& connection = connections_[slot];
  if (!side_.setup.config.connections.per_message) table_.erase(cold_[slot].key);
  connection.control->~Sender();
  connection.recovery->~Recovery();
  connection.control = nullptr;
  connection.recovery = nullptr;
  cold_[slot].selector.reset();
  connection.selector = nullptr;
  ++connection.generation;
  receive_slots_[side_.part_of_host(connection.destination)].unused.push_back(connection.receive_slot);
  connection.number = kNotConnected;
  if (!connection.waiting) unused_.push_back(slot);  // else once its NIC has come across it
}

std::vector<SentMessage> Connections::sent() const {
  std::vector<SentMessage> all = sent_;
  for (const Connection& connection : connections_) {
    if (connection.recovery == nullptr) continue;
    for (std::uint32_t m = connection.first_message; m != kNoMessage; m = messages_[m].next) {
      const OutgoingMessage& message = messages_[m];
      const std::uint32_t next = connection.recovery->next_new();
      const std::uint32_t packets = std::clamp(next, message.first, message.end) - message.first;
      all.push_back(
          {connection.source, message.number, packets + message.retransmissions, message.retransmissions});
    }
  }
  return all;
}

}  // namespace weft::sim::packet
