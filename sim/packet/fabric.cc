#include "sim/packet/fabric.h"

#include <algorithm>
#include <limits>
#include <map>

namespace weft::sim::packet {
namespace {

// What random streams are for, beside the entity.
constexpr std::uint64_t kSaltPurpose = 0x5A17;
constexpr std::uint64_t kPolicyPurpose = 0x9011;
constexpr std::uint64_t kMarkPurpose = 0xEC9;

constexpr std::int64_t kBytePs = 8'000'000'000'000;  // one byte at one bit per second

}  // namespace

Fabric::Fabric(Engine& engine, const topologies::Topology& topology, const routing::RoutingTable& table,
               const routing::Policy& policy, const Parameters& routing_parameters, std::uint32_t ack_bytes)
    : engine_(engine), topology_(topology), table_(table), ack_bytes_(ack_bytes) {
  const auto& channels = topology.channels();
  const auto count = static_cast<std::uint32_t>(channels.size());
  first_entity_ = engine.add_entities(count);
  channels_.resize(count);
  cold_.resize(count);
  ends_.resize(count);
  for (std::uint32_t c = 0; c < count; ++c) {
    const topologies::Node& end = topology.node(channels[c].to);
    const bool at_host = end.kind == topologies::NodeKind::kHost;
    ends_[c] = channels[c].to | (at_host ? kHostBit : 0);
    channels_[c].delay_ps = channels[c].latency.ps() + (at_host ? 0 : end.switch_latency.ps());
    cold_[c].rate = channels[c].rate;
    cold_[c].random = engine.stream(first_entity_ + c, kMarkPurpose);
    const std::int64_t bps = channels[c].rate.bps();
    if (kBytePs % bps == 0 && kBytePs / bps <= std::numeric_limits<std::uint32_t>::max()) {
      channels_[c].ps_per_byte = static_cast<std::uint32_t>(kBytePs / bps);
    }
  }
  salts_.resize(topology.nodes());
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    salts_[topology.switch_at(s)] = RandomStream(engine.seed(), s, kSaltPurpose).next();
  }
  if (policy.make_switch_policy != nullptr) {
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
      policies_.push_back(
          policy.make_switch_policy(routing_parameters, s, RandomStream(engine.seed(), s, kPolicyPurpose)));
    }
    free_at_ps_.resize(count);
  }
}

void Fabric::set_queues(const Discipline& discipline, const Parameters& parameters, Time rtt,
                        std::uint32_t packet_bytes) {
  std::map<std::int64_t, QueueRule> rules;  // by rate
  for (std::uint32_t c = 0; c < channels_.size(); ++c) {
    const topologies::Channel& wire = topology_.channels()[c];
    if (topology_.node(wire.from).kind == topologies::NodeKind::kHost) continue;
    const auto [at, fresh] = rules.try_emplace(wire.rate.bps());
    if (fresh) at->second = discipline.rule(parameters, {wire.rate, rtt, packet_bytes});
    const QueueRule& rule = at->second;
    Channel& channel = channels_[c];
    channel.capacity_ps = wire.rate.serialization(rule.capacity_bytes).ps();
    longest_queue_ = std::max(longest_queue_, Time::ps(channel.capacity_ps));
    if (!rule.marks) continue;
    channel.mark_above_ps = wire.rate.serialization(rule.mark_from_bytes).ps();
    cold_[c].mark_all_above_ps = wire.rate.serialization(rule.mark_all_bytes).ps();
    const std::int64_t ramp = cold_[c].mark_all_above_ps - channel.mark_above_ps;
    cold_[c].mark_slope = ramp > 0 ? rule.mark_probability / static_cast<double>(ramp) : 0;
  }
}

std::uint32_t Fabric::ask_policy(topologies::Vertex at, const Packet& packet,
                                 std::span<const std::uint32_t> candidates) {
  const FlowEnds& ends = flows_[packet.flow];
  const std::uint32_t index = topology_.node(at).index;
  const routing::PacketView view{.source = packet.ack() ? ends.destination : ends.source,
                                 .destination = packet.destination,
                                 .flow = ends.identity,
                                 .entropy = packet.entropy,
                                 .bytes = wire_bytes(packet),
                                 .control = packet.ack()};
  const routing::SwitchView here{.switch_index = index,
                                 .salt = salts_[at],
                                 .now = engine_.now(),
                                 .channel_free_at_ps = free_at_ps_.data()};
  return policies_[index]->choose(view, candidates, here);
}

void Fabric::drop(std::uint32_t c, std::uint32_t handle) {
  ++cold_[c].drops;
  ++counters_.packets_dropped;
  counters_.bytes_dropped += wire_bytes(pool_[handle]);
  if (observer_ != nullptr) observer_->on_drop(engine_.now(), c, sighting(handle));
  pool_.release(handle);
}

void Fabric::mark(std::uint32_t c, Packet& packet, std::int64_t backlog_ps) {
  if (packet.ack()) return;
  ColdChannel& cold = cold_[c];
  if (backlog_ps <= cold.mark_all_above_ps) {
    const double probability = cold.mark_slope * static_cast<double>(backlog_ps - channels_[c].mark_above_ps);
    if (cold.random.uniform() >= probability) return;
  }
  if (packet.marked()) return;  // by an earlier switch
  packet.flags |= kMarked;
  ++cold.marks;
  ++counters_.marks;
}

Sighting Fabric::sighting(std::uint32_t handle) {
  const Packet& packet = pool_[handle];
  const FlowEnds& ends = flows_[packet.flow];
  return {.handle = handle,
          .flow = packet.flow,
          .number = packet.number,
          .bytes = wire_bytes(packet),
          .ack = packet.ack(),
          .marked = packet.marked(),
          .source = packet.ack() ? ends.destination : ends.source,
          .destination = packet.destination,
          .flow_number = static_cast<std::uint32_t>(ends.identity),
          .entropy = packet.entropy};
}

Time Fabric::round_trip(std::uint32_t nic_channel, std::uint32_t destination_host, std::uint32_t entropy,
                        std::uint32_t bytes) const {
  Time sum;
  for (std::uint32_t c = nic_channel;;) {
    const std::uint32_t back = c ^ 1;  // the two directions of a cable are numbered 2e and 2e + 1
    sum += serialization(c, bytes) + serialization(back, ack_bytes_);
    sum += Time::ps(channels_[c].delay_ps + channels_[back].delay_ps);
    const std::uint32_t at = ends_[c];
    if (at & kHostBit) return sum;
    const auto candidates = table_.candidates(at, destination_host);
    c = candidates[routing::hash_choice(entropy, salts_[at], candidates.size())];
  }
}

std::uint64_t Fabric::backlog_bytes(std::uint32_t c, std::int64_t backlog_ps) const {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(backlog_ps) *
                                    static_cast<unsigned __int128>(cold_[c].rate.bps()) / kBytePs);
}

std::uint64_t Fabric::channel_max_queue_bytes(std::uint32_t c) const {
  return backlog_bytes(c, channels_[c].max_backlog_ps);
}

std::uint64_t Fabric::channel_queue_bytes(std::uint32_t c, Time now) const {
  return backlog_bytes(c, std::max<std::int64_t>(0, channels_[c].free_at_ps - now.ps()));
}

}  // namespace weft::sim::packet
