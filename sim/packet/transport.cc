#include "sim/packet/transport.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/routing/path_draws.h"
#include "sim/units/input_error.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint64_t kJitterPurpose = 0x717;
constexpr std::size_t kSenderAlignment = 16;

}  // namespace

TransportCounters& TransportCounters::operator+=(const TransportCounters& other) {
  messages += other.messages;
  bytes += other.bytes;
  retransmissions += other.retransmissions;
  timeouts += other.timeouts;
  duplicates += other.duplicates;
  given_up += other.given_up;
  nacks += other.nacks;
  return *this;
}

TransportSetup::TransportSetup(const routing::Policy& policy_, const Parameters& routing_parameters,
                               std::unique_ptr<congestion::SenderFactory> senders_,
                               const PacketConfig& config_, Time longest_round_trip, Time longest_queue)
    : policy(policy_),
      make_selector(policy.make_path_selectors != nullptr ? policy.make_path_selectors(routing_parameters)
                                                          : routing::PathSelectorMaker()),
      senders(std::move(senders_)),
      sender_bytes((senders->sender_bytes() + kSenderAlignment - 1) / kSenderAlignment * kSenderAlignment),
      config(config_),
      timer_grain(longest_round_trip + config.receive_delay * 2) {
  // A timeout must not fire while queues merely are full: out and back, no path crosses more queues than
  // this allows for in practice.
  constexpr int kFullQueues = 8;
  recovery.min_timeout = std::max(config.min_timeout, timer_grain + longest_queue * kFullQueues);
  if (config.ack_every > 1) recovery.min_timeout = recovery.min_timeout + config.ack_delay;
  recovery.reordering = policy.make_path_selectors != nullptr || policy.make_switch_policy != nullptr ||
                        config.nic_choice == NicChoice::kSpray;
  recovery.jitter = config.timeout_jitter;
}

Hosts::Hosts(std::span<Engine* const> engines, const topologies::Topology& topology)
    : flow_count(topology.hosts()), copy_free_at_ps(topology.hosts()), turn(topology.hosts()) {
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    first_nic.push_back(static_cast<std::uint32_t>(nics.size()));
    for (std::uint32_t channel : topology.out_channels(topology.host(host))) {
      nics.emplace_back().channel = channel;
    }
  }
  first_nic.push_back(static_cast<std::uint32_t>(nics.size()));
  EntityId first = 0;
  for (Engine* engine : engines) first = engine->add_entities(static_cast<std::uint32_t>(nics.size()));
  for (std::uint32_t nic = 0; nic < nics.size(); ++nic) nics[nic].entity = first + nic;
}

Transport::Transport(Engine& engine, NetworkClient& client, Fabric& fabric, Channels& channels, Hosts& hosts,
                     const TransportSetup& setup, std::uint32_t partition, Outbox& outbox)
    : engine_(engine),
      client_(client),
      fabric_(fabric),
      channels_(channels),
      hosts_(hosts),
      setup_(setup),
      partition_(partition),
      outbox_(outbox),
      receive_slots_(channels.partition.parts),
      receive_(channels.partition.parts) {
  if (holds_acks()) fabric.packets().keep_sacks();
}

Transport::~Transport() {
  for (SendFlow& flow : send_) {
    if (flow.control != nullptr) flow.control->~Sender();
  }
}

std::uint32_t Transport::new_slot() {
  if (!unused_.empty()) {
    const std::uint32_t slot = unused_.back();
    unused_.pop_back();
    return slot;
  }
  const auto slot = static_cast<std::uint32_t>(send_.size());
  send_.emplace_back();
  cold_.emplace_back();
  if (slot % kSlabFlows == 0) {
    slabs_.push_back(std::make_unique<std::byte[]>(kSlabFlows * setup_.sender_bytes));
  }
  return slot;
}

// Among the source's NICs.
std::uint32_t Transport::choose_nic(const Message& message, std::uint32_t entropy) {
  const std::uint32_t count = nics_of(message.source);
  if (count == 1) return 0;
  switch (setup_.config.nic_choice) {
    case NicChoice::kGiven:
      break;
    case NicChoice::kRoundRobin:
    case NicChoice::kSpray:  // where its first packet goes
      return hosts_.turn[message.source]++ % count;
    case NicChoice::kHash:
      return routing::hashed_nic(entropy, count);
    case NicChoice::kLeastLoaded: {
      const auto first = hosts_.nics.begin() + hosts_.first_nic[message.source];
      const auto least = std::min_element(
          first, first + count, [](const Nic& a, const Nic& b) { return a.load_packets < b.load_packets; });
      return static_cast<std::uint32_t>(least - first);
    }
  }
  return message.source_nic % count;
}

Bandwidth Transport::line_rate(std::uint32_t nic, std::uint32_t host) const {
  if (setup_.config.nic_choice != NicChoice::kSpray) return channels_.cold[hosts_.nics[nic].channel].rate;
  std::int64_t bps = 0;
  for (std::uint32_t n = hosts_.first_nic[host]; n < hosts_.first_nic[host + 1]; ++n) {
    bps += channels_.cold[hosts_.nics[n].channel].rate.bps();
  }
  return Bandwidth::bps(bps);
}

void Transport::start(const Message& message) {
  const PacketConfig& config = setup_.config;
  const std::uint32_t number = hosts_.flow_count[message.source]++;
  ++open_flows_;
  if (message.source == message.destination) {
    start_local(message, number);
    return;
  }
  const std::uint64_t packets = std::max<std::uint64_t>(
      1, message.bytes / config.mtu_bytes + (message.bytes % config.mtu_bytes != 0 ? 1 : 0));
  if (packets > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError("a message of " + std::to_string(message.bytes) +
                     " bytes has more than 2^32 packets of " + std::to_string(config.mtu_bytes) +
                     " bytes; expected a larger mtu or smaller messages");
  }
  const std::uint32_t slot = new_slot();
  const std::uint64_t identity = routing::flow_identity(message.source, number);
  RandomStream random = routing::flow_draws(engine_.seed(), identity);

  SendFlow& flow = send_[slot];
  flow.entropy = static_cast<std::uint32_t>(random.next());
  const std::uint32_t port = choose_nic(message, flow.entropy);
  flow.nic = flow.lane = hosts_.first_nic[message.source] + port;
  Nic& nic = hosts_.nics[flow.nic];
  nic.load_packets += packets;
  flow.source = message.source;
  flow.destination = message.destination;
  flow.number = number;
  const bool given = config.nic_choice == NicChoice::kGiven;
  flow.reply_nic =
      static_cast<std::uint8_t>((given ? message.destination_nic : port) % nics_of(message.destination));
  flow.next_send_ps = 0;
  flow.sent_packets = 0;
  flow.waiting = flow.pacing = false;
  const auto last_bytes = static_cast<std::uint32_t>(message.bytes - (packets - 1) * config.mtu_bytes);
  auto times = channels_.path_times(nic.channel, flow.destination, flow.entropy,
                                    config.mtu_bytes + config.header_bytes,
                                    static_cast<std::uint32_t>(packets), last_bytes + config.header_bytes);
  times.round_trip = times.round_trip + config.receive_delay * 2;
  times.one_way = times.one_way + config.receive_delay;
  const auto jitter = static_cast<std::uint32_t>(
      config.timeout_jitter > 0 ? RandomStream(engine_.seed(), identity, kJitterPurpose).next() : 0);
  flow.recovery.start(setup_.recovery, static_cast<std::uint32_t>(packets), config.mtu_bytes, last_bytes,
                      times.round_trip, jitter);

  const Bandwidth line_rate = this->line_rate(flow.nic, message.source);
  flow.control =
      setup_.senders->construct(storage(slot), {.bytes = message.bytes,
                                                .mtu_bytes = config.mtu_bytes,
                                                .line_rate = line_rate,
                                                .base_rtt = times.round_trip,
                                                .bdp_bytes = bytes_in(line_rate, times.round_trip)});
  allow(flow, flow.control->start());

  flow.previous_live = kNone;
  flow.next_live = nic.first_live;
  if (nic.first_live != kNone) send_[nic.first_live].previous_live = slot;
  nic.first_live = slot;

  ColdSend& cold = cold_[slot];
  cold.message = message;
  cold.retransmissions = 0;
  if (setup_.make_selector) cold.selector = setup_.make_selector(identity, random);
  flow.selector = cold.selector.get();

  const std::uint32_t to = part_of_host(message.destination);
  ReceiveSlots& slots = receive_slots_[to];
  if (slots.unused.empty()) {
    flow.receive_slot = static_cast<std::uint32_t>(slots.senders.size());
    slots.senders.push_back(slot);
  } else {
    flow.receive_slot = slots.unused.back();
    slots.unused.pop_back();
    slots.senders[flow.receive_slot] = slot;
  }
  const FlowStart announcement{.receive_slot = flow.receive_slot,
                               .send_slot = slot,
                               .flow_number = number,
                               .packets = static_cast<std::uint32_t>(packets),
                               .start = engine_.now(),
                               .ideal = times.one_way,
                               .reply_nic = flow.reply_nic,
                               .message = message};
  if (to == partition_) {
    expect(partition_, announcement);
  } else {
    outbox_.send(to, announcement);
  }
  wake(slot);
}

// A message within a host is copied: one copy at a time per host, in order, then the latency.
void Transport::start_local(const Message& message, std::uint32_t number) {
  std::uint32_t slot;
  if (unused_local_.empty()) {
    slot = static_cast<std::uint32_t>(local_.size());
    local_.emplace_back();
  } else {
    slot = unused_local_.back();
    unused_local_.pop_back();
  }
  local_[slot] = {message, engine_.now(), number};
  std::int64_t& free_at = hosts_.copy_free_at_ps[message.source];
  free_at =
      std::max(free_at, engine_.now().ps()) + setup_.config.local_bandwidth.serialization(message.bytes).ps();
  engine_.schedule(Time::ps(free_at) + setup_.config.local_latency,
                   hosts_.nics[hosts_.first_nic[message.source]].entity, kLocalCopy, slot);
}

void Transport::local_copy_done(std::uint32_t slot) {
  const LocalMessage local = local_[slot];
  unused_local_.push_back(slot);
  ++counters_.messages;
  counters_.bytes += local.message.bytes;
  --open_flows_;
  record(local.message,
         {.source = local.message.source,
          .destination = local.message.destination,
          .bytes = local.message.bytes,
          .start = local.start,
          .finish = engine_.now(),
          .ideal =
              setup_.config.local_bandwidth.serialization(local.message.bytes) + setup_.config.local_latency},
         local.number);
  if (local.message.notify_sent) client_.on_sent(local.message);
  client_.on_delivered(local.message);
}

// The flow an answer is about, if it isn't over.
bool Transport::is_of(const SendFlow& flow, const Packet& packet) {
  return flow.number == packet.flow_number && flow.source == packet.destination;
}

void Transport::on_ack(std::uint32_t handle) {
  const Packet packet = fabric_.packets()[handle];
  const std::uint64_t sack = fabric_.packets().sack(handle);
  fabric_.packets().release(handle);
  const std::uint32_t slot = packet.flow;
  if (slot == kNone) return;
  SendFlow& flow = send_[slot];
  if (!is_of(flow, packet)) return;
  if (packet.kind == PacketKind::kNack) [[unlikely]] {
    ++counters_.nacks;
    on_nack(slot, packet, packet.cumulative());
    return;
  }
  const Time now = engine_.now();
  const auto outcome = flow.recovery.on_ack(now, packet.number, packet.cumulative(), Time::ps(packet.sent_ps),
                                            packet.flags & kDuplicate, sack);
  if (flow.selector != nullptr && setup_.policy.selectors_want_feedback) {
    flow.selector->on_ack(packet.entropy, packet.marked());
  }
  tell_acked(flow, packet, outcome);
  if (outcome.lost_packets > 0) [[unlikely]]
    allow(flow, flow.control->on_loss(now, outcome.lost_bytes));
  go_on(slot);
}

// A header of ours that a switch has sent back. It names the receiver's slot.
void Transport::on_returned(std::uint32_t handle) {
  const Packet packet = fabric_.packets()[handle];
  fabric_.packets().release(handle);
  const std::uint32_t slot = receive_slots_[part_of_host(packet.source)].senders[packet.flow];
  if (is_of(send_[slot], packet)) on_nack(slot, packet, 0);
}

// The selector hears of it when the packet is about to be sent again, as of any loss; that is before it
// chooses for a new one.
void Transport::on_nack(std::uint32_t slot, const Packet& packet, std::uint32_t cumulative) {
  SendFlow& flow = send_[slot];
  const Time now = engine_.now();
  const auto outcome = flow.recovery.on_nack(now, packet.number, cumulative, Time::ps(packet.sent_ps));
  tell_acked(flow, packet, outcome);
  if (outcome.lost_packets > 0) allow(flow, flow.control->on_trim(now, outcome.lost_bytes));
  go_on(slot);
}

void Transport::go_on(std::uint32_t slot) {
  SendFlow& flow = send_[slot];
  if (flow.recovery.done()) {
    finish(slot);
    return;
  }
  arm_timer(hosts_.nics[flow.nic], flow.recovery.deadline());
  wake(slot);
}

void Transport::finish(std::uint32_t slot) {
  SendFlow& flow = send_[slot];
  Nic& nic = hosts_.nics[flow.nic];
  nic.load_packets -= flow.recovery.packets();
  (flow.previous_live == kNone ? nic.first_live : send_[flow.previous_live].next_live) = flow.next_live;
  if (flow.next_live != kNone) send_[flow.next_live].previous_live = flow.previous_live;
  flow.control->~Sender();
  flow.control = nullptr;
  ++flow.generation;
  --open_flows_;
  receive_slots_[part_of_host(flow.destination)].unused.push_back(flow.receive_slot);
  ColdSend& cold = cold_[slot];
  cold.selector.reset();
  flow.selector = nullptr;
  if (setup_.config.record_flows) {
    sent_.push_back({flow.source, flow.number, flow.sent_packets, cold.retransmissions});
  }
  flow.number = kNone;
  const Message message = cold.message;
  if (!flow.waiting) unused_.push_back(slot);  // else once its NIC has come across it
  if (message.notify_sent) client_.on_sent(message);
}

bool Transport::may_send(const SendFlow& flow) const {
  const congestion::Recovery& recovery = flow.recovery;
  const bool again = recovery.lost() > 0;
  if (!again) {
    if (recovery.next_new() == recovery.packets()) return false;
    // Keeps the bookkeeping in proportion to the window while an old packet is missing.
    const std::uint64_t span = recovery.next_new() - recovery.first_unacked();
    if (span * setup_.config.mtu_bytes > 16 * flow.window_bytes + 64 * std::uint64_t{setup_.config.mtu_bytes})
      return false;
  }
  const std::uint32_t payload = again ? setup_.config.mtu_bytes : recovery.payload(recovery.next_new());
  return recovery.in_flight_packets() == 0 || recovery.in_flight_bytes() + payload <= flow.window_bytes;
}

void Transport::wake(std::uint32_t slot) {
  SendFlow& flow = send_[slot];
  if (flow.waiting || flow.pacing || !may_send(flow)) return;
  if (flow.rate.bps() > 0 && flow.next_send_ps > engine_.now().ps()) {
    flow.pacing = true;
    engine_.schedule(Time::ps(flow.next_send_ps), hosts_.nics[flow.nic].entity, kPace, slot, flow.generation);
    return;
  }
  Nic& nic = hosts_.nics[flow.lane];
  flow.waiting = true;
  flow.next_waiting = kNone;
  (nic.first_waiting == kNone ? nic.first_waiting : send_[nic.last_waiting].next_waiting) = slot;
  nic.last_waiting = slot;
  if (nic.busy) return;
  if (fabric_.scheduled(nic.channel)) {
    // Else the fabric says when it does.
    if (fabric_.takes_data(nic.channel)) serve(flow.lane);
  } else if (fabric_.free_at(nic.channel) <= engine_.now()) {
    serve(flow.lane);
  } else {
    nic.busy = true;
    engine_.schedule(fabric_.free_at(nic.channel), nic.entity, kNicReady, flow.lane);
  }
}

void Transport::pace(std::uint32_t slot, std::uint16_t generation) {
  if (send_[slot].generation != generation) return;
  send_[slot].pacing = false;
  wake(slot);
}

void Transport::nic_ready(std::uint32_t nic) {
  hosts_.nics[nic].busy = false;
  serve(nic);
}

void Transport::serve(std::uint32_t nic_number) {
  Nic& nic = hosts_.nics[nic_number];
  while (nic.first_waiting != kNone) {
    const std::uint32_t slot = nic.first_waiting;
    SendFlow& flow = send_[slot];
    nic.first_waiting = flow.next_waiting;
    flow.waiting = false;
    if (flow.control == nullptr) {  // finished while it waited to send something again
      unused_.push_back(slot);
      continue;
    }
    if (!may_send(flow)) continue;
    nic.busy = true;  // keeps wake() from coming back here
    send_packet(slot);
    wake(slot);
    if (fabric_.scheduled(nic.channel)) {
      nic.busy = false;
      return;
    }
    nic.busy = nic.first_waiting != kNone;
    if (nic.busy) engine_.schedule(fabric_.free_at(nic.channel), nic.entity, kNicReady, nic_number);
    return;
  }
}

void Transport::send_packet(std::uint32_t slot) {
  SendFlow& flow = send_[slot];
  const std::uint32_t number = flow.recovery.next_to_send();
  const bool again = number != flow.recovery.next_new();
  const Nic& nic = hosts_.nics[flow.lane];
  const Time start = std::max(engine_.now(), fabric_.free_at(nic.channel));
  flow.recovery.on_send(number, start);
  const std::uint32_t entropy = flow.selector == nullptr ? flow.entropy : choose_entropy(slot, number, again);

  PacketPool& packets = fabric_.packets();
  const std::uint32_t handle = packets.acquire();
  const std::uint32_t bytes = flow.recovery.payload(number) + setup_.config.header_bytes;
  packets[handle] = Packet{.sent_ps = start.ps(),
                           .flow = flow.receive_slot,
                           .number = number,
                           .entropy = entropy,
                           .destination = flow.destination,
                           .source = flow.source,
                           .flow_number = flow.number,
                           .bytes = bytes,
                           .reply_nic = flow.reply_nic};
  ++flow.sent_packets;
  if (again) [[unlikely]] {
    ++cold_[slot].retransmissions;
    ++counters_.retransmissions;
  }
  if (flow.rate.bps() > 0) flow.next_send_ps = start.ps() + flow.rate.serialization(bytes).ps();
  if (setup_.config.nic_choice == NicChoice::kSpray) [[unlikely]] {
    if (++flow.lane == hosts_.first_nic[flow.source + 1]) flow.lane = hosts_.first_nic[flow.source];
  }
  fabric_.inject(nic.channel, handle);
  if (flow.recovery.in_flight_packets() == 1) arm_timer(hosts_.nics[flow.nic], flow.recovery.deadline());
}

// Asks the flow's selector, and keeps what it answers, so that it can be told which path lost a packet.
std::uint32_t Transport::choose_entropy(std::uint32_t slot, std::uint32_t number, bool again) {
  routing::PathSelector& selector = *send_[slot].selector;
  if (!setup_.policy.selectors_want_feedback) return selector.next_entropy(number);
  ColdSend& cold = cold_[slot];
  std::vector<std::uint32_t>& ring = cold.entropies;
  const std::uint32_t first = send_[slot].recovery.first_unacked();
  if (number - first >= ring.size()) {
    std::vector<std::uint32_t> wider(std::max<std::size_t>(16, ring.size() * 2));
    for (std::uint32_t n = first; n != number; ++n) {
      wider[n & (wider.size() - 1)] = ring[n & (ring.size() - 1)];
    }
    ring = std::move(wider);
  }
  std::uint32_t& entropy = ring[number & (ring.size() - 1)];
  if (again) selector.on_loss(entropy);
  entropy = selector.next_entropy(number);
  return entropy;
}

// One timer per NIC. Its flows' deadlines move all the time; it looks at them at most once per timer_grain_.
void Transport::arm_timer(Nic& nic, Time deadline) {
  if (deadline.ps() >= nic.timer_ps) return;
  const std::int64_t when =
      std::max({deadline.ps(), nic.last_timer_ps + setup_.timer_grain.ps(), engine_.now().ps()});
  if (when >= nic.timer_ps) return;
  nic.timer_ps = when;
  engine_.schedule(Time::ps(when), nic.entity, kNicTimer,
                   static_cast<std::uint32_t>(&nic - hosts_.nics.data()));
}

void Transport::nic_timer(std::uint32_t nic_number) {
  Nic& nic = hosts_.nics[nic_number];
  const Time now = engine_.now();
  if (now.ps() != nic.timer_ps) return;  // an earlier one took its place
  nic.timer_ps = INT64_MAX;
  nic.last_timer_ps = now.ps();
  Time next = Time::max();
  for (std::uint32_t slot = nic.first_live; slot != kNone; slot = send_[slot].next_live) {
    SendFlow& flow = send_[slot];
    if (flow.recovery.deadline() <= now) {
      const auto outcome = flow.recovery.on_timer(now);
      counters_.given_up += outcome.gave_up;
      if (outcome.timeout) {
        ++counters_.timeouts;
        allow(flow, flow.control->on_timeout(now));
      } else if (outcome.lost_packets > 0) {
        allow(flow, flow.control->on_loss(now, outcome.lost_bytes));
      }
      wake(slot);
    }
    next = std::min(next, flow.recovery.deadline());
  }
  if (next != Time::max()) arm_timer(nic, next);
}

std::vector<Transport::Sent> Transport::sent() const {
  std::vector<Sent> all = sent_;
  for (std::uint32_t slot = 0; slot < send_.size(); ++slot) {
    const SendFlow& flow = send_[slot];
    if (flow.control == nullptr) continue;
    all.push_back({flow.source, flow.number, flow.sent_packets, cold_[slot].retransmissions});
  }
  return all;
}

}  // namespace weft::sim::packet
