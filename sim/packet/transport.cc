#include "sim/packet/transport.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "sim/units/input_error.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint64_t kEntropyPurpose = 0xE47;
constexpr std::size_t kSenderAlignment = 16;

}  // namespace

Transport::Transport(Engine& engine, NetworkClient& client, Fabric& fabric,
                     const topologies::Topology& topology, const routing::Policy& policy,
                     const Parameters& routing_parameters, std::unique_ptr<congestion::SenderFactory> senders,
                     const PacketConfig& config, Time longest_round_trip)
    : engine_(engine),
      client_(client),
      fabric_(fabric),
      policy_(policy),
      make_selector_(policy.make_path_selectors != nullptr ? policy.make_path_selectors(routing_parameters)
                                                           : routing::PathSelectorMaker()),
      senders_(std::move(senders)),
      sender_bytes_((senders_->sender_bytes() + kSenderAlignment - 1) / kSenderAlignment * kSenderAlignment),
      config_(config),
      timer_grain_(longest_round_trip) {
  // A timeout must not fire while queues merely are full: out and back, no path crosses more queues than
  // this allows for in practice.
  constexpr int kFullQueues = 8;
  recovery_config_.min_timeout =
      std::max(config.min_timeout, longest_round_trip + fabric.longest_queue() * kFullQueues);
  recovery_config_.reordering = policy.make_path_selectors != nullptr || policy.make_switch_policy != nullptr;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    first_nic_.push_back(static_cast<std::uint32_t>(nics_.size()));
    for (std::uint32_t channel : topology.out_channels(topology.host(host))) {
      nics_.emplace_back().channel = channel;
    }
  }
  first_nic_.push_back(static_cast<std::uint32_t>(nics_.size()));
  const EntityId first = engine.add_entities(static_cast<std::uint32_t>(nics_.size()));
  for (std::uint32_t nic = 0; nic < nics_.size(); ++nic) nics_[nic].entity = first + nic;
  flow_count_.resize(topology.hosts());
  copy_free_at_ps_.resize(topology.hosts());
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
  receive_.emplace_back();
  cold_.emplace_back();
  if (slot % kSlabFlows == 0) slabs_.push_back(std::make_unique<std::byte[]>(kSlabFlows * sender_bytes_));
  return slot;
}

void Transport::start(const Message& message) {
  const std::uint32_t number = flow_count_[message.source]++;
  ++open_flows_;
  if (message.source == message.destination) {
    start_local(message, number);
    return;
  }
  const std::uint64_t packets = std::max<std::uint64_t>(
      1, message.bytes / config_.mtu_bytes + (message.bytes % config_.mtu_bytes != 0 ? 1 : 0));
  if (packets > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError("a message of " + std::to_string(message.bytes) +
                     " bytes has more than 2^32 packets of " + std::to_string(config_.mtu_bytes) +
                     " bytes; expected a larger mtu or smaller messages");
  }
  const std::uint32_t slot = new_slot();
  const std::uint32_t nics = first_nic_[message.source + 1] - first_nic_[message.source];
  const std::uint32_t nic_number = first_nic_[message.source] + message.source_nic % nics;
  Nic& nic = nics_[nic_number];
  const std::uint64_t identity = std::uint64_t{message.source} << 32 | number;
  RandomStream random(engine_.seed(), identity, kEntropyPurpose);

  SendFlow& flow = send_[slot];
  flow.nic = nic_number;
  flow.source = message.source;
  flow.destination = message.destination;
  flow.entropy = static_cast<std::uint32_t>(random.next());
  flow.next_send_ps = 0;
  flow.sent_packets = 0;
  flow.waiting = flow.pacing = false;
  const Time base_rtt = fabric_.round_trip(nic.channel, flow.destination, flow.entropy,
                                           config_.mtu_bytes + config_.header_bytes);
  const auto last_bytes = static_cast<std::uint32_t>(message.bytes - (packets - 1) * config_.mtu_bytes);
  flow.recovery.start(recovery_config_, static_cast<std::uint32_t>(packets), config_.mtu_bytes, last_bytes,
                      base_rtt);

  const Bandwidth line_rate = fabric_.rate(nic.channel);
  const auto bdp_bytes = static_cast<unsigned __int128>(line_rate.bps()) *
                         static_cast<unsigned __int128>(base_rtt.ps()) / 8'000'000'000'000ULL;
  flow.control = senders_->construct(storage(slot), {.bytes = message.bytes,
                                                     .mtu_bytes = config_.mtu_bytes,
                                                     .line_rate = line_rate,
                                                     .base_rtt = base_rtt,
                                                     .bdp_bytes = static_cast<std::uint64_t>(bdp_bytes)});
  allow(flow, flow.control->start());

  flow.previous_live = kNone;
  flow.next_live = nic.first_live;
  if (nic.first_live != kNone) send_[nic.first_live].previous_live = slot;
  nic.first_live = slot;

  ReceiveFlow& receiver = receive_[slot];
  receiver.arrivals.clear();
  receiver.packets = static_cast<std::uint32_t>(packets);
  receiver.marked = 0;
  receiver.source = message.source;
  const std::uint32_t reply_nics = first_nic_[message.destination + 1] - first_nic_[message.destination];
  receiver.reply_channel =
      nics_[first_nic_[message.destination] + message.destination_nic % reply_nics].channel;
  receiver.generation = flow.generation;

  ColdFlow& cold = cold_[slot];
  cold.message = message;
  cold.number = number;
  cold.record = {.source = message.source,
                 .destination = message.destination,
                 .bytes = message.bytes,
                 .start = engine_.now(),
                 .finish = Time::max()};
  if (make_selector_) cold.selector = make_selector_(identity, random);
  flow.selector = cold.selector.get();
  fabric_.set_flow(slot, message.source, message.destination, identity);
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
  std::int64_t& free_at = copy_free_at_ps_[message.source];
  free_at = std::max(free_at, engine_.now().ps()) + config_.local_bandwidth.serialization(message.bytes).ps();
  engine_.schedule(Time::ps(free_at) + config_.local_latency, nics_[first_nic_[message.source]].entity,
                   kLocalCopy, slot);
}

void Transport::local_copy_done(std::uint32_t slot) {
  const LocalMessage local = local_[slot];
  unused_local_.push_back(slot);
  ++counters_.messages;
  counters_.bytes += local.message.bytes;
  --open_flows_;
  record({.source = local.message.source,
          .destination = local.message.destination,
          .bytes = local.message.bytes,
          .start = local.start,
          .finish = engine_.now()},
         local.number);
  if (local.message.notify_sent) client_.on_sent(local.message);
  client_.on_delivered(local.message);
}

void Transport::packet_at_host(std::uint32_t handle) {
  fabric_.deliver(handle);
  if (fabric_.packets()[handle].ack()) {
    on_ack(handle);
  } else {
    on_data(handle);
  }
}

void Transport::on_data(std::uint32_t handle) {
  Packet& packet = fabric_.packets()[handle];
  const std::uint32_t slot = packet.flow;
  ReceiveFlow& receiver = receive_[slot];
  if (receiver.generation != packet.generation) {  // a needless retransmission; its sender is content already
    ++counters_.duplicates;
    fabric_.packets().release(handle);
    return;
  }
  const bool fresh = receiver.arrivals.add(packet.number);
  if (packet.marked()) ++receiver.marked;
  if (!fresh) ++counters_.duplicates;
  // The same record goes back as the ACK; the mark stays on it as the echo.
  packet.flags = static_cast<std::uint8_t>(packet.flags | kAck | (fresh ? 0 : kDuplicate));
  packet.destination = receiver.source;
  packet.bytes_or_cumulative = receiver.arrivals.first_missing();
  fabric_.inject(receiver.reply_channel, handle);
  if (!fresh || receiver.arrivals.first_missing() != receiver.packets) return;
  ColdFlow& cold = cold_[slot];
  cold.record.finish = engine_.now();
  cold.record.ecn_marked = receiver.marked;
  ++counters_.messages;
  counters_.bytes += cold.message.bytes;
  const Message message = cold.message;  // the callback may start flows, which moves cold_
  client_.on_delivered(message);
}

void Transport::on_ack(std::uint32_t handle) {
  const Packet packet = fabric_.packets()[handle];
  fabric_.packets().release(handle);
  const std::uint32_t slot = packet.flow;
  SendFlow& flow = send_[slot];
  if (flow.generation != packet.generation) return;
  const Time now = engine_.now();
  const auto outcome = flow.recovery.on_ack(now, packet.number, packet.bytes_or_cumulative,
                                            Time::ps(packet.sent_ps), packet.flags & kDuplicate);
  if (flow.selector != nullptr && policy_.selectors_want_feedback) {
    flow.selector->on_ack(packet.entropy, packet.marked());
  }
  if (outcome.acked_packets > 0) {
    allow(flow, flow.control->on_ack({.now = now,
                                      .rtt = now - Time::ps(packet.sent_ps),
                                      .bytes = outcome.acked_bytes,
                                      .in_flight = flow.recovery.in_flight_bytes(),
                                      .ecn_marked = packet.marked()}));
  }
  if (outcome.lost_packets > 0) [[unlikely]]
    allow(flow, flow.control->on_loss(now, outcome.lost_bytes));
  if (flow.recovery.done()) {
    finish(slot);
    return;
  }
  arm_timer(nics_[flow.nic], flow.recovery.deadline());
  wake(slot);
}

void Transport::finish(std::uint32_t slot) {
  SendFlow& flow = send_[slot];
  Nic& nic = nics_[flow.nic];
  (flow.previous_live == kNone ? nic.first_live : send_[flow.previous_live].next_live) = flow.next_live;
  if (flow.next_live != kNone) send_[flow.next_live].previous_live = flow.previous_live;
  flow.control->~Sender();
  flow.control = nullptr;
  receive_[slot].generation = ++flow.generation;
  --open_flows_;
  ColdFlow& cold = cold_[slot];
  cold.selector.reset();
  flow.selector = nullptr;
  cold.record.packets = flow.sent_packets;
  record(cold.record, cold.number);
  const Message message = cold.message;
  if (!flow.waiting) unused_.push_back(slot);  // else once its NIC has come across it
  if (message.notify_sent) client_.on_sent(message);
}

void Transport::record(const results::Flow& flow, std::uint32_t number) {
  if (config_.record_flows) done_.push_back({flow, number});
}

bool Transport::may_send(const SendFlow& flow) const {
  const congestion::Recovery& recovery = flow.recovery;
  const bool again = recovery.lost() > 0;
  if (!again) {
    if (recovery.next_new() == recovery.packets()) return false;
    // Keeps the bookkeeping in proportion to the window while an old packet is missing.
    const std::uint64_t span = recovery.next_new() - recovery.first_unacked();
    if (span * config_.mtu_bytes > 16 * flow.window_bytes + 64 * std::uint64_t{config_.mtu_bytes})
      return false;
  }
  const std::uint32_t payload = again ? config_.mtu_bytes : recovery.payload(recovery.next_new());
  return recovery.in_flight_packets() == 0 || recovery.in_flight_bytes() + payload <= flow.window_bytes;
}

void Transport::wake(std::uint32_t slot) {
  SendFlow& flow = send_[slot];
  if (flow.waiting || flow.pacing || !may_send(flow)) return;
  if (flow.rate.bps() > 0 && flow.next_send_ps > engine_.now().ps()) {
    flow.pacing = true;
    engine_.schedule(Time::ps(flow.next_send_ps), nics_[flow.nic].entity, kPace, slot, flow.generation);
    return;
  }
  Nic& nic = nics_[flow.nic];
  flow.waiting = true;
  flow.next_waiting = kNone;
  (nic.first_waiting == kNone ? nic.first_waiting : send_[nic.last_waiting].next_waiting) = slot;
  nic.last_waiting = slot;
  if (nic.busy) return;
  if (fabric_.free_at(nic.channel) <= engine_.now()) {
    serve(flow.nic);
  } else {
    nic.busy = true;
    engine_.schedule(fabric_.free_at(nic.channel), nic.entity, kNicReady, flow.nic);
  }
}

void Transport::pace(std::uint32_t slot, std::uint16_t generation) {
  if (send_[slot].generation != generation) return;
  send_[slot].pacing = false;
  wake(slot);
}

void Transport::nic_ready(std::uint32_t nic) {
  nics_[nic].busy = false;
  serve(nic);
}

void Transport::serve(std::uint32_t nic_number) {
  Nic& nic = nics_[nic_number];
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
    nic.busy = nic.first_waiting != kNone;
    if (nic.busy) engine_.schedule(fabric_.free_at(nic.channel), nic.entity, kNicReady, nic_number);
    return;
  }
}

void Transport::send_packet(std::uint32_t slot) {
  SendFlow& flow = send_[slot];
  const std::uint32_t number = flow.recovery.next_to_send();
  const bool again = number != flow.recovery.next_new();
  Nic& nic = nics_[flow.nic];
  const Time start = std::max(engine_.now(), fabric_.free_at(nic.channel));
  flow.recovery.on_send(number, start);
  const std::uint32_t entropy = flow.selector == nullptr ? flow.entropy : choose_entropy(slot, number, again);

  PacketPool& packets = fabric_.packets();
  const std::uint32_t handle = packets.acquire();
  const std::uint32_t bytes = flow.recovery.payload(number) + config_.header_bytes;
  packets[handle] = {.sent_ps = start.ps(),
                     .flow = slot,
                     .number = number,
                     .entropy = entropy,
                     .destination = flow.destination,
                     .bytes_or_cumulative = bytes,
                     .generation = flow.generation,
                     .flags = 0};
  ++flow.sent_packets;
  if (again) [[unlikely]] {
    ++cold_[slot].record.retransmissions;
    ++counters_.retransmissions;
  }
  if (flow.rate.bps() > 0) flow.next_send_ps = start.ps() + flow.rate.serialization(bytes).ps();
  fabric_.inject(nic.channel, handle);
  if (flow.recovery.in_flight_packets() == 1) arm_timer(nic, flow.recovery.deadline());
}

// Asks the flow's selector, and keeps what it answers, so that it can be told which path lost a packet.
std::uint32_t Transport::choose_entropy(std::uint32_t slot, std::uint32_t number, bool again) {
  routing::PathSelector& selector = *send_[slot].selector;
  if (!policy_.selectors_want_feedback) return selector.next_entropy(number);
  ColdFlow& cold = cold_[slot];
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
      std::max({deadline.ps(), nic.last_timer_ps + timer_grain_.ps(), engine_.now().ps()});
  if (when >= nic.timer_ps) return;
  nic.timer_ps = when;
  engine_.schedule(Time::ps(when), nic.entity, kNicTimer, static_cast<std::uint32_t>(&nic - nics_.data()));
}

void Transport::nic_timer(std::uint32_t nic_number) {
  Nic& nic = nics_[nic_number];
  const Time now = engine_.now();
  if (now.ps() != nic.timer_ps) return;  // an earlier one took its place
  nic.timer_ps = INT64_MAX;
  nic.last_timer_ps = now.ps();
  Time next = Time::max();
  for (std::uint32_t slot = nic.first_live; slot != kNone; slot = send_[slot].next_live) {
    SendFlow& flow = send_[slot];
    if (flow.recovery.deadline() <= now) {
      const auto outcome = flow.recovery.on_timer(now);
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

std::vector<results::Flow> Transport::flows() const {
  std::vector<DoneFlow> all = done_;
  // Delivered, though the last ACKs are still under way.
  for (std::uint32_t slot = 0; slot < send_.size() && config_.record_flows; ++slot) {
    if (send_[slot].control != nullptr && cold_[slot].record.finish != Time::max()) {
      all.push_back({cold_[slot].record, cold_[slot].number});
      all.back().record.packets = send_[slot].sent_packets;
    }
  }
  std::sort(all.begin(), all.end(), [](const DoneFlow& a, const DoneFlow& b) {
    return std::tie(a.record.start, a.record.source, a.number) <
           std::tie(b.record.start, b.record.source, b.number);
  });
  std::vector<results::Flow> flows;
  flows.reserve(all.size());
  for (const DoneFlow& flow : all) flows.push_back(flow.record);
  return flows;
}

}  // namespace weft::sim::packet
