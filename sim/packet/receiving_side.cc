#include "sim/packet/receiving_side.h"

#include <algorithm>
#include <utility>

#include "sim/routing/path_draws.h"
#include "sim/units/plugin_modules.h"

namespace weft::sim::packet {

using congestion::AckTime;
using congestion::Reassembly;

namespace {
constexpr std::uint64_t kReceiverPurpose = 0x4EC;
}  // namespace

class ReceivingSide::Actions final : public congestion::ReceiverActions {
 public:
  Actions(ReceivingSide& receiving, NicId nic) : receiving_(receiving), nic_(nic) {}

  Time now() const override { return receiving_.side_.engine.now(); }
  void acknowledge(congestion::ConnectionId connection) override {
    if (const Key key = key_of(connection); key != kNoConnection) receiving_.acknowledge_held(key);
  }
  void notify(congestion::ConnectionId connection) override {
    const Key key = key_of(connection);
    if (key == kNoConnection) return;
    ++receiving_.side_.counters.notifications;
    receiving_.send_to_sender(key, PacketKind::kCnp, 0);
  }
  void grant(congestion::ConnectionId connection, std::uint64_t bytes) override {
    const Key key = key_of(connection);
    if (key == kNoConnection) return;
    ++receiving_.side_.counters.credits;
    receiving_.send_to_sender(key, PacketKind::kCredit, receiving_.received_of(key).granted_bytes += bytes);
  }
  std::uint64_t granted(congestion::ConnectionId connection) const override {
    const Key key = key_of(connection);
    return key == kNoConnection ? 0 : receiving_.received_of(key).granted_bytes;
  }
  void set_timer(Time at) override {
    NicReceiver& receiver = receiving_.receivers_[nic_];
    const std::int64_t when =
        at == Time::max() ? INT64_MAX : std::max(at.ps(), receiving_.side_.engine.now().ps());
    if (when == receiver.timer_ps) return;
    receiver.timer_ps = when;
    if (when == INT64_MAX) return;
    receiving_.side_.engine.schedule(Time::ps(when), receiving_.side_.hosts.nics[nic_].entity, kReceiverTimer,
                                     nic_);
  }

 private:
  // Gives the key of a connection that isn't over, else kNoConnection.
  Key key_of(congestion::ConnectionId connection) const {
    const auto found = receiving_.keys_.find(connection);
    return found == receiving_.keys_.end() || receiving_.is_over(found->second) ? kNoConnection
                                                                                : found->second;
  }

  ReceivingSide& receiving_;
  NicId nic_;
};

ReceivingSide::ReceivingSide(HostSide& side) : side_(side), tables_(side.channels.partition.parts) {
  if (holds_acks() || side.setup.recovery_kind.wants_bitmaps) side.fabric.packets().acks().keep();
  if (side.setup.receivers != nullptr) receivers_.resize(side.hosts.nics.size());
}

ReceivingSide::~ReceivingSide() = default;

congestion::Receiver* ReceivingSide::receiver_of(NicId nic) {
  if (side_.setup.receivers == nullptr) [[likely]]
    return nullptr;
  std::unique_ptr<congestion::Receiver>& receiver = receivers_[nic].receiver;
  if (receiver == nullptr) {
    const PacketConfig& config = side_.setup.config;
    const congestion::ReceiverInfo info{.line_rate = side_.channels.cold[side_.hosts.nics[nic].channel].rate,
                                        .mtu_bytes = config.mtu_bytes,
                                        .header_bytes = config.header_bytes,
                                        .longest_rtt = side_.setup.longest_round_trip,
                                        .random = static_cast<std::uint32_t>(
                                            RandomStream(side_.engine.seed(), nic, kReceiverPurpose).next())};
    receiver = made_by("congestion control", side_.setup.control.info.name, "ReceiverFactory::make",
                       [&] { return side_.setup.receivers->make(info); });
  }
  return receiver.get();
}

void ReceivingSide::add_signals(Signals& sum) const {
  for (const NicReceiver& each : receivers_) {
    if (each.receiver == nullptr) continue;
    for (const auto& [name, count] : each.receiver->signals()) add_signal(name, count, sum);
  }
}

void ReceivingSide::expect(std::uint32_t from_partition, const FlowStart& start) {
  Table& table = tables_[from_partition];
  if (start.receive_slot >= table.connections.size()) {
    table.connections.resize(start.receive_slot + 1);
    table.cold.resize(start.receive_slot + 1);
    if (holds_acks()) table.held.resize(start.receive_slot + 1);
    if (side_.setup.receivers != nullptr) table.received.resize(start.receive_slot + 1);
  }
  const Key key = Key{from_partition} << 32 | start.receive_slot;
  if (start.opens) open(key, start);
  Connection& connection = of(key);
  ColdConnection& cold = cold_of(key);
  const std::uint32_t first = cold.end;
  cold.end += start.packets;
  if (cold.reassembly != nullptr && start.packets > 0)
    cold.reassembly->append(start.packets, start.message.bytes);
  IncomingMessage incoming{.message = start.message,
                           .start = start.start,
                           .ideal = start.ideal,
                           .first = first,
                           .end = cold.end,
                           .number = start.message_number};
  std::uint32_t index;
  if (unused_messages_.empty()) {
    index = static_cast<std::uint32_t>(messages_.size());
    messages_.push_back(incoming);
  } else {
    index = unused_messages_.back();
    unused_messages_.pop_back();
    messages_[index] = incoming;
  }
  if (connection.first_message == kNone) {
    connection.first_message = index;
    connection.message_end = cold.end;
  } else {
    messages_[cold.last_message].next = index;
  }
  cold.last_message = index;
}

void ReceivingSide::open(Key key, const FlowStart& start) {
  Connection& connection = of(key);
  ColdConnection& cold = cold_of(key);
  if (side_.setup.receivers != nullptr) {
    keys_.erase(routing::flow_identity(connection.source, connection.number));
    keys_[routing::flow_identity(start.message.source, start.flow_number)] = key;
    received_of(key) = {};
  }
  const Message& message = start.message;
  connection.arrivals.clear();
  connection.source = message.source;
  connection.number = start.flow_number;
  connection.send_slot = start.send_slot;
  connection.first_message = kNone;
  const NicId nic = side_.hosts.nic_of(HostId(message.destination), PortId(start.reply_nic));
  connection.reply_channel = side_.hosts.nics[nic].channel;
  cold = {};
  cold.nic = nic;
  cold.sender = start.sender;
  cold.reassembly = side_.setup.recoveries->make_reassembly();
  // Nothing is held any more for the slot's last connection: its last packet was acknowledged at once.
  if (holds_acks()) {
    held_of(key) = {};
    held_of(key).nic = nic;
  }
}

// A packet's record goes back as the answer; the mark stays on it as the echo.
void ReceivingSide::turn_round(Packet& packet, PacketKind kind, const Connection& connection) const {
  std::swap(packet.source, packet.destination);
  packet.kind = kind;
  packet.clear(kTrimmed);
  packet.bytes = side_.channels.control_bytes;
  packet.flow = connection.send_slot;
  packet.set_cumulative(connection.arrivals.first_missing());
}

// A needless retransmission of a connection that is over, and its slot in use again. When that happens
// depends on partitions; so that nothing else does, it is acknowledged as if it had not.
void ReceivingSide::answer_late(PacketHandle handle, ChannelId way_back) {
  Packet& packet = side_.fabric.packets()[handle];
  const NicId nic =
      side_.hosts.nic_of(HostId(side_.channels.host_of(packet.destination)), PortId(packet.reply_nic));
  std::swap(packet.source, packet.destination);
  packet.kind = PacketKind::kAck;
  packet.clear(kTrimmed);
  packet.set(kDuplicate);
  packet.bytes = side_.channels.control_bytes;
  packet.flow = kNone;
  packet.set_cumulative(0);
  count_needless(packet);
  const bool spray = side_.setup.config.nic_choice == NicChoice::kSpray;
  side_.fabric.inject(spray ? way_back : side_.hosts.nics[nic].channel, handle);
}

// It is there already, or its connection is over.
void ReceivingSide::count_needless(const Packet& packet) {
  const bool spare = side_.setup.recovery_kind.adds_redundancy && (packet.flags & kAgain) == 0;
  ++(spare ? side_.counters.redundant : side_.counters.duplicates);
}

void ReceivingSide::on_data(PacketHandle handle, ChannelId way_back) {
  Packet& packet = side_.fabric.packets()[handle];
  const std::uint32_t part = tables_.size() == 1 ? 0 : side_.part_of_host(packet.source);
  const Key key = Key{part} << 32 | packet.flow;
  Table& table = tables_[part];
  Connection& connection = table.connections[packet.flow];
  side_.fabric.packets().acks().set(handle, {});
  if (connection.number != packet.flow_number || connection.source != side_.channels.host_of(packet.source))
      [[unlikely]] {
    answer_late(handle, way_back);
    return;
  }
  const bool spray = side_.setup.config.nic_choice == NicChoice::kSpray;
  const ChannelId reply = spray ? way_back : connection.reply_channel;
  const bool holds = holds_acks();
  if (packet.trimmed()) [[unlikely]] {
    if (!connection.arrivals.has(packet.number)) return on_trimmed(key, handle, reply);
    packet.clear(kTrimmed);
  }
  if (holds) [[unlikely]]
    part_from_held(key, packet);
  note_order(connection, packet);
  const Reassembly::Verdict verdict = take(table, packet);
  if (verdict == Reassembly::Verdict::kIgnored) [[unlikely]]
    return side_.fabric.packets().release(handle);
  if (verdict == Reassembly::Verdict::kRefused) [[unlikely]] {
    turn_round(packet, PacketKind::kNack, connection);
    side_.fabric.inject(reply, handle);
    return;
  }
  const bool fresh = verdict == Reassembly::Verdict::kTaken;
  if (packet.marked()) [[unlikely]] {
    if (IncomingMessage* message = message_with(connection, packet.number)) ++message->marked;
  }
  if (!fresh) {
    count_needless(packet);
    packet.set(kDuplicate);
  }
  const bool completes = fresh && connection.arrivals.first_missing() >= connection.message_end;
  if (!holds) [[likely]] {
    turn_round(packet, PacketKind::kAck, connection);
    if (side_.setup.recovery_kind.wants_bitmaps) [[unlikely]]
      side_.fabric.packets().acks().set(handle, {.sack = connection.arrivals.sack(packet.number)});
    side_.fabric.inject(reply, handle);
  } else {
    const bool asks = side_.setup.receivers != nullptr && (fresh || is_redundant(connection, packet));
    hold_or_acknowledge(key, reply, handle, fresh, asks ? ask_receiver(key, handle) : AckTime::kByRule);
  }
  if (completes) complete_messages(key);
}

// Is it redundant, of a message that isn't complete? Receivers pace by what comes, needed or not.
bool ReceivingSide::is_redundant(const Connection& connection, const Packet& packet) {
  return side_.setup.recovery_kind.adds_redundancy && (packet.flags & kAgain) == 0 &&
         message_with(connection, packet.number) != nullptr;
}

// Notes what has come.
Reassembly::Verdict ReceivingSide::take(Table& table, const Packet& packet) {
  congestion::Arrivals& arrivals = table.connections[packet.flow].arrivals;
  if (side_.setup.recoveries->reassembles()) [[unlikely]]
    return table.cold[packet.flow].reassembly->on_packet(packet.number, arrivals);
  return arrivals.add(packet.number) ? Reassembly::Verdict::kTaken : Reassembly::Verdict::kDuplicate;
}

// A payload was cut off, and it is missing.
void ReceivingSide::on_trimmed(Key key, PacketHandle handle, ChannelId reply) {
  if (side_.setup.receivers != nullptr && ask_receiver(key, handle) == AckTime::kLater) {
    side_.fabric.packets().release(handle);
    return;
  }
  if (holds_acks()) acknowledge_held(key);
  turn_round(side_.fabric.packets()[handle], PacketKind::kNack, of(key));
  side_.fabric.inject(reply, handle);
}

AckTime ReceivingSide::ask_receiver(Key key, PacketHandle handle) {
  const Packet& packet = side_.fabric.packets()[handle];
  Received& received = received_of(key);
  const Connection& connection = of(key);
  const std::uint32_t bytes = packet.bytes, header = side_.setup.config.header_bytes;
  received.last_ps = side_.engine.now().ps();
  const congestion::Arrival arrival{
      .now = side_.engine.now(),
      .connection = routing::flow_identity(connection.source, connection.number),
      .source = connection.source,
      .payload_bytes = packet.trimmed() ? 0 : bytes - std::min(bytes, header),
      .ecn_marked = packet.marked(),
      .trimmed = packet.trimmed(),
      .at_last_hop = packet.trimmed() && (packet.flags & kAtLastHop) != 0,
      .completes = !packet.trimmed() && connection.arrivals.first_missing() >= connection.message_end,
      .wanted_credit = side_.fabric.packets().credits().get(handle)};
  const NicId nic = cold_of(key).nic;
  Actions actions(*this, nic);
  return receiver_of(nic)->on_data(arrival, received.word, actions);
}

// Whether its slot is in use again then depends on partitions, so nothing else may.
bool ReceivingSide::is_over(Key key) const {
  const Table& table = tables_[key >> 32];
  const auto slot = static_cast<std::uint32_t>(key);
  if (side_.setup.config.connections.per_message) return table.connections[slot].first_message == kNone;
  return side_.engine.now().ps() >= table.received[slot].last_ps + side_.setup.idle.ps();
}

// Which of the messages under way the packet is of; null: of one that is complete.
ReceivingSide::IncomingMessage* ReceivingSide::message_with(const Connection& connection,
                                                            std::uint32_t number) {
  std::uint32_t index = connection.first_message;
  if (index == kNone || number < messages_[index].first) return nullptr;
  while (messages_[index].end <= number) index = messages_[index].next;
  return &messages_[index];
}

void ReceivingSide::note_order(Connection& connection, const Packet& packet) {
  const std::uint32_t late = connection.arrivals.lateness(packet.number);
  if (late == 0 || connection.arrivals.has(packet.number)) [[likely]]
    return;
  ++side_.counters.out_of_order_packets;
  side_.counters.overtaken_packets += (packet.flags & kAgain) == 0;
  side_.counters.max_reorder_distance = std::max<std::uint64_t>(side_.counters.max_reorder_distance, late);
  IncomingMessage& message = *message_with(connection, packet.number);
  side_.counters.out_of_order_messages += message.out_of_order == 0;
  ++message.out_of_order;
  message.distance = std::max(message.distance, late);
}

void ReceivingSide::complete_messages(Key key) {
  for (;;) {
    Connection& connection = of(key);
    if (connection.first_message == kNone ||
        connection.arrivals.first_missing() < messages_[connection.first_message].end) {
      return;
    }
    const std::uint32_t index = connection.first_message;
    IncomingMessage incoming = messages_[index];
    connection.first_message = incoming.next;
    connection.message_end = incoming.next == kNone ? incoming.end : messages_[incoming.next].end;
    unused_messages_.push_back(index);
    const bool shared = !side_.setup.config.connections.per_message;
    if (shared && incoming.next == kNone) connection.arrivals.rest();
    record(incoming.message, {.record = {.source = incoming.message.source,
                                         .destination = incoming.message.destination,
                                         .bytes = incoming.message.bytes,
                                         .start = incoming.start,
                                         .finish = side_.engine.now(),
                                         .ideal = incoming.ideal,
                                         .ecn_marked = incoming.marked,
                                         .out_of_order = incoming.out_of_order,
                                         .reorder_distance = incoming.distance},
                              .number = incoming.number});
    side_.client.on_delivered(incoming.message);  // may start messages, which moves tables
  }
}

void ReceivingSide::record(const Message& message, const DeliveredMessage& delivered) {
  ++side_.counters.messages;
  side_.counters.bytes += message.bytes;
  if (message.control) return;
  statistics_.add_but_hosts(delivered.record);
  tally_.add(delivered.record);
  if (side_.setup.config.record_flows) delivered_.push_back(delivered);
}

void ReceivingSide::receiver_timer(NicId nic) {
  NicReceiver& receiver = receivers_[nic];
  if (receiver.timer_ps != side_.engine.now().ps()) return;  // another one took its place
  receiver.timer_ps = INT64_MAX;
  Actions actions(*this, nic);
  receiver.receiver->on_timer(actions);
}

}  // namespace weft::sim::packet
