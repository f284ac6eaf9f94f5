#include "sim/packet/channels.h"

#include <algorithm>
#include <limits>
#include <map>

#include "sim/routing/hash_choice.h"

namespace weft::sim::packet {
namespace {

// What random streams are for, beside the entity.
constexpr std::uint64_t kSaltPurpose = 0x5A17;
constexpr std::uint64_t kPolicyPurpose = 0x9011;
constexpr std::uint64_t kMarkPurpose = 0xEC9;
constexpr std::uint64_t kQueuePurpose = 0x0E0E;

constexpr std::int64_t kBytePs = 8'000'000'000'000;  // one byte at one bit per second

}  // namespace

Channels::Channels(std::span<Engine* const> engines, const topologies::Topology& topology_,
                   const routing::RoutingTable& table_, const topologies::Partitioning& partition_,
                   const routing::Policy& policy, const Parameters& routing_parameters,
                   std::uint32_t control_bytes_)
    : topology(topology_),
      table(table_),
      partition(partition_),
      control_bytes(control_bytes_),
      seed_(engines.front()->seed()) {
  const auto& wires = topology.channels();
  const auto number = static_cast<std::uint32_t>(wires.size());
  for (Engine* engine : engines) first_entity = engine->add_counting_entities(number);
  const Engine& engine = *engines.front();
  hot.resize(number);
  cold.resize(number);
  ends.resize(number);
  for (std::uint32_t c = 0; c < number; ++c) {
    const topologies::Node& end = topology.node(wires[c].to);
    const bool at_host = end.kind == topologies::NodeKind::kHost;
    ends[c] = wires[c].to | (at_host ? kHostBit : 0);
    hot[c].delay_ps = wires[c].latency.ps() + (at_host ? 0 : end.switch_latency.ps());
    hot[c].end_partition = static_cast<std::uint16_t>(part_of(wires[c].to));
    if (at_host) hot[c].flags |= kAtHost;
    cold[c].rate = wires[c].rate;
    cold[c].random = engine.stream(first_entity + c, kMarkPurpose);
    const std::int64_t bps = wires[c].rate.bps();
    if (kBytePs % bps == 0 && kBytePs / bps <= std::numeric_limits<std::uint32_t>::max()) {
      hot[c].ps_per_byte = static_cast<std::uint32_t>(kBytePs / bps);
    }
  }
  for (std::uint32_t v = 0; v < topology.nodes(); ++v) {
    std::uint32_t port = 0;
    for (const std::uint32_t c : topology.out_channels(v)) cold[c].port = port++;
  }
  salts.resize(topology.nodes());
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    salts[topology.switch_at(s)] = RandomStream(engine.seed(), s, kSaltPurpose).next();
  }
  if (policy.make_switch_policy != nullptr) {
    for (std::uint32_t s = 0; s < topology.switches(); ++s) {
      policies.push_back(
          policy.make_switch_policy(routing_parameters, s, RandomStream(engine.seed(), s, kPolicyPurpose)));
    }
    free_at_ps.resize(number);
  }
}

void Channels::set_queues(const Discipline& discipline, const Parameters& parameters, Time rtt,
                          std::uint32_t packet_bytes) {
  if (discipline.make != nullptr) return make_queues(discipline, parameters, rtt, packet_bytes);
  std::map<std::int64_t, QueueRule> rules;  // by rate
  for (std::uint32_t c = 0; c < count(); ++c) {
    const topologies::Channel& wire = topology.channels()[c];
    if (topology.node(wire.from).kind == topologies::NodeKind::kHost) continue;
    const auto [at, fresh] = rules.try_emplace(wire.rate.bps());
    if (fresh) at->second = discipline.rule(parameters, {wire.rate, rtt, packet_bytes});
    const QueueRule& rule = at->second;
    Channel& channel = hot[c];
    channel.capacity_ps = wire.rate.serialization(rule.capacity_bytes).ps();
    longest_queue_ = std::max(longest_queue_, Time::ps(channel.capacity_ps));
    if (!rule.marks) continue;
    channel.mark_above_ps = wire.rate.serialization(rule.mark_from_bytes).ps();
    cold[c].mark_all_above_ps = wire.rate.serialization(rule.mark_all_bytes).ps();
    const std::int64_t ramp = cold[c].mark_all_above_ps - channel.mark_above_ps;
    cold[c].mark_slope = ramp > 0 ? rule.mark_probability / static_cast<double>(ramp) : 0;
  }
}

void Channels::make_queues(const Discipline& discipline, const Parameters& parameters, Time rtt,
                           std::uint32_t packet_bytes) {
  queues.resize(topology.nodes());
  for (std::uint32_t v = 0; v < topology.nodes(); ++v) {
    const bool is_host = topology.node(v).kind == topologies::NodeKind::kHost;
    if (is_host && !discipline.at_hosts) continue;
    std::vector<PortSite> ports;
    for (const std::uint32_t c : topology.out_channels(v)) {
      const topologies::Channel& wire = topology.channels()[c];
      ports.push_back({.rate = wire.rate,
                       .latency = wire.latency,
                       .to_host = (hot[c].flags & kAtHost) != 0,
                       .pipeline = Time::ps(hot[c].delay_ps) - wire.latency});
      hot[c].flags |= kScheduled;
    }
    queues[v] = discipline.make(parameters, {.is_host = is_host,
                                             .ports = ports,
                                             .pipeline = topology.node(v).switch_latency,
                                             .rtt = rtt,
                                             .packet_bytes = packet_bytes,
                                             .control_bytes = control_bytes,
                                             .random = RandomStream(seed_, v, kQueuePurpose)});
    for (std::uint32_t port = 0; port < ports.size() && !is_host; ++port) {
      longest_queue_ =
          std::max(longest_queue_, ports[port].rate.serialization(queues[v]->capacity_bytes(port)));
    }
  }
}

// The k-th of equal packets leaves a link Σ F/r + (k − 1) max F/r after the first one started, plus the
// delays; the last packet, shorter perhaps, follows the one before it through every link.
Channels::PathTimes Channels::path_times(std::uint32_t nic_channel, std::uint32_t destination_host,
                                         std::uint32_t entropy, std::uint32_t bytes, std::uint32_t packets,
                                         std::uint32_t last_bytes) const {
  const auto wire_ps = [&](std::uint32_t c, std::uint32_t size) {
    return topology.channels()[c].rate.serialization(size).ps();
  };
  std::int64_t round_trip = 0;
  std::int64_t first = 0, slowest = 0;  // of the first packet: when its last bit leaves; slowest link so far
  std::int64_t last = 0;                // when the last bit of the last packet arrives
  for (std::uint32_t c = nic_channel;;) {
    const std::uint32_t back = c ^ 1;  // the two directions of a cable are numbered 2e and 2e + 1
    const std::int64_t full = wire_ps(c, bytes);
    round_trip += full + wire_ps(back, control_bytes) + hot[c].delay_ps + hot[back].delay_ps;
    first += full;
    slowest = std::max(slowest, full);
    const std::int64_t ahead = packets > 1 ? first + std::int64_t{packets - 2} * slowest : 0;
    last = std::max(last, ahead) + wire_ps(c, last_bytes) + hot[c].delay_ps;
    first += hot[c].delay_ps;
    const std::uint32_t at = ends[c];
    if (at & kHostBit) return {Time::ps(round_trip), Time::ps(last)};
    const auto candidates = table.candidates(at, destination_host);
    c = candidates[routing::hash_choice(entropy, salts[at], candidates.size())];
  }
}

std::uint64_t Channels::backlog_bytes(std::uint32_t c, std::int64_t backlog_ps) const {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(backlog_ps) *
                                    static_cast<unsigned __int128>(cold[c].rate.bps()) / kBytePs);
}

std::uint64_t Channels::max_queue_bytes(std::uint32_t c) const {
  return backlog_bytes(c, hot[c].max_backlog_ps);
}

std::uint64_t Channels::unsent_bytes(std::uint32_t c, Time now) const {
  const std::uint64_t unsent = backlog_bytes(c, std::max<std::int64_t>(0, hot[c].free_at_ps - now.ps()));
  return std::min(unsent, hot[c].bytes);
}

std::uint64_t Channels::queue_bytes(std::uint32_t c, Time now) const {
  const std::uint64_t unsent = unsent_bytes(c, now);
  if (!(hot[c].flags & kScheduled)) return unsent;
  return unsent + queues[topology.channels()[c].from]->backlog_bytes(cold[c].port);
}

}  // namespace weft::sim::packet
