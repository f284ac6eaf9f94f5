#include "sim/packet/channels.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "sim/routing/path_draws.h"
#include "sim/units/long_times.h"

namespace weft::sim::packet {
namespace {

// What random streams are for, beside the entity.
constexpr std::uint64_t kMarkPurpose = 0xEC9;
constexpr std::uint64_t kErrorPurpose = 0xBE5;
constexpr std::uint64_t kQueuePurpose = 0x0E0E;

constexpr std::int64_t kBytePs = 8'000'000'000'000;  // one byte at one bit per second

}  // namespace

Channels::Channels(std::span<Engine* const> engines, const topologies::Topology& topology_,
                   const routing::RoutingTable& table_, const topologies::Partitioning& partition_,
                   std::uint32_t control_bytes_, const routing::NicNetwork* nics_)
    : topology(topology_),
      nics(nics_),
      table(&table_),
      original_table(table_),
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
  end_ports.resize(number, PortId(0));
  places.resize(number);
  for (ChannelId c{0}; c < number; ++c) {
    const topologies::Node& end = topology.node(wires[c].to);
    const bool at_host = end.kind == topologies::NodeKind::kHost;
    ends[c].vertex = wires[c].to | (at_host ? kHostBit : 0);
    hot[c].delay_ps = wires[c].latency.ps() + (at_host ? 0 : end.switch_latency.ps());
    hot[c].end_partition = static_cast<std::uint16_t>(part_of(wires[c].to));
    set_rate(c, wires[c].rate);
    const bool from_switch = topology.node(wires[c].from).kind == topologies::NodeKind::kSwitch;
    if (from_switch) {
      Bandwidth& slowest = switch_links.slowest;
      slowest = slowest == Bandwidth() ? wires[c].rate : std::min(slowest, wires[c].rate);
    }
    if (!at_host && from_switch) {
      const bool is_first = switch_links.rate == Bandwidth();
      const Time delay = Time::ps(hot[c].delay_ps);
      switch_links.alike = is_first || (switch_links.alike && switch_links.rate == wires[c].rate &&
                                        switch_links.delay == delay);
      switch_links.rate = wires[c].rate;
      switch_links.delay = delay;
    }
    cold[c].loss = wires[c].loss;
    set_error_flag(c);
    cold[c].random = engine.stream(first_entity + c, kMarkPurpose);
    cold[c].errors = engine.stream(first_entity + c, kErrorPurpose);
  }
  for (NodeId v{0}; v < topology.nodes(); ++v) {
    PortId port{0};
    for (const std::uint32_t c : topology.out_channels(v)) {
      places[c] = {.vertex = v, .port = port};
      end_ports[opposite(ChannelId(c))] = port;
      ++port;
    }
  }
  salts.resize(topology.nodes());
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    salts[topology.switch_at(s)] = routing::switch_salt(engine.seed(), s);
  }
  down_links_.resize(number / 2);
  rate_shares_.resize(number, 1.0);
}

void Channels::set_rate(ChannelId c, Bandwidth rate) {
  cold[c].rate = rate;
  const bool whole =
      kBytePs % rate.bps() == 0 && kBytePs / rate.bps() <= std::numeric_limits<std::uint32_t>::max();
  hot[c].ps_per_byte = whole ? static_cast<std::uint32_t>(kBytePs / rate.bps()) : 0;
}

void Channels::set_error_flag(ChannelId c) {
  const bool errors = cold[c].loss > 0 || cold[c].bit_error_rate > 0;
  hot[c].flags = static_cast<std::uint16_t>(errors ? hot[c].flags | kErrors : hot[c].flags & ~kErrors);
}

bool Channels::apply(const LinkChange& change) {
  bool new_rate = false;
  for (const ChannelId c : {ChannelId(2 * change.link), ChannelId(2 * change.link + 1)}) {
    if (!(change.directions >> c % 2 & 1)) continue;
    new_rate |= std::exchange(rate_shares_[c], change.rate_share) != change.rate_share;
    change_direction(c, change);
  }
  down_links_[change.link] = change.rate_share == 0;
  degraded = true;
  ++link_changes;
  return new_rate;
}

// What has been given a departure keeps it.
void Channels::change_direction(ChannelId c, const LinkChange& change) {
  const bool down = change.rate_share == 0, was_down = hot[c].flags & kDown;
  const Time lost = Time::ps(down ? std::max<std::int64_t>(hot[c].free_at_ps - change.at.ps(), 0) : 0);
  busy_times_.settle(count(), c, change.at, cold[c].rate, hot[c].bytes, lost);
  if (down && !was_down) {
    cold[c].lost_before = static_cast<std::uint32_t>(hot[c].packets);
    ends[c].vertex |= kCutBit;
    hot[c].free_at_ps = std::min(hot[c].free_at_ps, change.at.ps());
  }
  hot[c].flags = static_cast<std::uint16_t>(down ? hot[c].flags | kDown : hot[c].flags & ~kDown);
  cold[c].bit_error_rate = change.bit_error_rate;
  set_error_flag(c);
  if (down) return;
  const Bandwidth full = topology.channels()[c].rate;
  const auto share = static_cast<std::int64_t>(static_cast<double>(full.bps()) * change.rate_share);
  const std::int64_t bps = std::max<std::int64_t>(share, 1);
  const double longer = static_cast<double>(cold[c].rate.bps()) / static_cast<double>(bps);
  set_rate(c, Bandwidth::bps(bps));
  const double before = cold[c].queue_share;
  cold[c].queue_share = change.queue_share;
  scale_limits(c, change.queue_share == before ? longer : longer * (change.queue_share / before));
  if (change.queue_share == before || places[c].buffers == nullptr) return;
  places[c].buffers->scale_limits(places[c].port, change.queue_share);
}

// Those of FIFO ports are in time at the rate, and so change with it, unless bytes do.
void Channels::scale_limits(ChannelId c, double longer) {
  const auto scale = [&](std::int64_t& ps) {
    if (ps < INT64_MAX / 8) ps = static_cast<std::int64_t>(static_cast<double>(ps) * longer);
  };
  for (std::int64_t* ps :
       {&cold[c].capacity_ps, &cold[c].mark_from_ps, &cold[c].mark_all_above_ps, &cold[c].phantom_capacity_ps,
        &cold[c].phantom_mark_from_ps, &cold[c].phantom_mark_all_ps}) {
    scale(*ps);
  }
  hot[c].capacity_ps = cold[c].capacity_ps;
  if (cold[c].queue_share < 1) {
    hot[c].capacity_ps = std::max(hot[c].capacity_ps, cold[c].rate.serialization(packet_bytes_).ps());
  }
  if (hot[c].mark_above_ps >= 0) hot[c].mark_above_ps = cold[c].mark_from_ps;
  cold[c].mark_slope /= longer;
}

void Channels::report_ports() {
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    const topologies::Vertex v = topology.switch_at(s);
    for (const std::uint32_t c : topology.out_channels(v)) hot[c].flags |= kReports;
    if (!queues.empty() && queues[v] != nullptr) queues[v]->set_always_exact();
  }
}

void Channels::divide_bytes(std::span<const std::uint32_t> job_of_host, std::uint32_t jobs) {
  for (std::uint32_t endpoint = 0; endpoint < topology.hosts(); ++endpoint) {
    job_of_endpoint_.push_back(job_of_host[host_of(endpoint)]);
  }
  jobs_ = jobs;
  job_bytes_.assign(hot.size() * jobs_, 0);
  for (Channel& channel : hot) channel.flags |= kDivided;
}

// A start takes its number from below all that count themselves: so it comes before packets that arrive then.
void Channels::stamp_packets(std::span<Engine* const> engines) {
  stamps_ = true;
  for (Engine* engine : engines) first_start = engine->add_entities(count());
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    for (const std::uint32_t c : topology.out_channels(topology.switch_at(s))) hot[c].flags |= kStamps;
  }
}

// What leaves a host is as late at the cable's other end as if that were longer.
void Channels::delay_sends(Time delay) {
  send_delay_ = delay;
  for (ChannelId c{0}; c < count(); ++c) {
    if (leaves_host(c)) hot[c].delay_ps += delay.ps();
  }
}

void Channels::cut_through() {
  for (Channel& channel : hot) channel.flags |= kCutThrough;
  cut_through_ = true;
}

void Channels::reroute() {
  if (repaired_table_ == nullptr) repaired_table_ = std::make_unique<routing::RoutingTable>(original_table);
  repaired_table_->repair(topology, down_links_);
  table = repaired_table_.get();
  ++reroutes;
}

void Channels::set_queues(const Discipline& discipline, const Parameters& parameters, Time rtt,
                          std::uint32_t packet_bytes) {
  packet_bytes_ = packet_bytes;
  if (discipline.rule == nullptr) return make_queues(discipline, parameters, rtt, packet_bytes);
  std::map<std::pair<std::int64_t, bool>, QueueRule> rules;  // by rate, and whether it is inside a node
  for (ChannelId c{0}; c < count(); ++c) {
    const topologies::Channel& wire = topology.channels()[c];
    if (topology.node(wire.from).kind == topologies::NodeKind::kHost) continue;
    const bool in_node = is_switch_in_node(wire.from);
    const auto [at, fresh] = rules.try_emplace({wire.rate.bps(), in_node});
    if (fresh) at->second = discipline.rule(parameters, {wire.rate, rtt, packet_bytes, in_node});
    const QueueRule& rule = at->second;
    Channel& channel = hot[c];
    channel.capacity_ps = cold[c].capacity_ps = serialization_to_end(wire.rate, rule.capacity_bytes).ps();
    const Time full = in_node ? wire.rate.serialization(kNodeQueue) : Time::ps(channel.capacity_ps);
    longest_queue_ = std::max(longest_queue_, full);
    if (!rule.marks) continue;
    channel.mark_above_ps = cold[c].mark_from_ps = serialization_to_end(wire.rate, rule.mark_from_bytes).ps();
    cold[c].mark_all_above_ps = serialization_to_end(wire.rate, rule.mark_all_bytes).ps();
    if (rule.phantom_stretch > 0) {
      const auto ps = [&](std::uint64_t bytes) {
        return static_cast<std::int64_t>(static_cast<double>(wire.rate.serialization(bytes).ps()) *
                                         rule.phantom_stretch);
      };
      channel.mark_above_ps = -1;
      cold[c].phantom_stretch = rule.phantom_stretch;
      cold[c].phantom_capacity_ps = ps(rule.phantom_capacity_bytes);
      cold[c].phantom_mark_from_ps = ps(rule.phantom_mark_from_bytes);
      cold[c].phantom_mark_all_ps = ps(rule.phantom_mark_all_bytes);
    }
    const std::int64_t ramp = cold[c].mark_all_above_ps - cold[c].mark_from_ps;
    cold[c].mark_slope = ramp > 0 ? rule.mark_probability / static_cast<double>(ramp) : 0;
  }
}

void Channels::make_queues(const Discipline& discipline, const Parameters& parameters, Time rtt,
                           std::uint32_t packet_bytes) {
  const bool admits = discipline.make_admission != nullptr;
  buffers.resize(topology.nodes());
  if (admits) {
    admissions.resize(topology.nodes());
  } else {
    queues.resize(topology.nodes());
  }
  for (NodeId v{0}; v < topology.nodes(); ++v) {
    const bool is_host = topology.node(v).kind == topologies::NodeKind::kHost;
    if (is_host && !discipline.at_hosts) continue;
    std::vector<PortSite> ports;
    for (const std::uint32_t c : topology.out_channels(v)) {
      const topologies::Channel& wire = topology.channels()[c];
      ports.push_back(
          {.rate = wire.rate,
           .latency = wire.latency,
           .to_host = ends[c].is_host(),
           .to_node = is_switch_in_node(wire.to),
           .crosses_groups = !ends[c].is_host() && topology.node(wire.to).group != topology.node(v).group,
           .pipeline = Time::ps(hot[c].delay_ps) - wire.latency,
           .send_delay = ends[c].is_host() ? send_delay_ : Time()});
      hot[c].flags |= admits ? kAdmits : kScheduled;
    }
    const NodeSite site{.is_host = is_host,
                        .in_node = is_switch_in_node(v),
                        .ports = ports,
                        .pipeline = topology.node(v).switch_latency,
                        .rtt = rtt,
                        .packet_bytes = packet_bytes,
                        .control_bytes = control_bytes,
                        .random = RandomStream(seed_, v, kQueuePurpose)};
    NodeBuffers*& made = buffers[v];
    if (admits) {
      admissions[v] = discipline.make_admission(parameters, site);
      made = admissions[v].get();
    } else {
      queues[v] = discipline.make(parameters, site);
      made = queues[v].get();
      schedule_ports(v);
    }
    for (const std::uint32_t c : topology.out_channels(v)) {
      places[c].buffers = made;
      places[c].memory = made->memory(places[c].port);
    }
    for (PortId port{0}; port < ports.size() && !is_host; ++port) {
      const std::uint64_t full = site.in_node ? kNodeQueue : made->capacity_bytes(port);
      longest_queue_ = std::max(longest_queue_, ports[port].rate.serialization(full));
    }
  }
}

// Where a switch that sends may learn late what room it has, it looks at what the other end has noted.
void Channels::join_room() {
  if (queues.empty()) return;
  for (ChannelId c{0}; c < count(); ++c) {
    NodeQueues* const from = queues[places[c].vertex].get();
    const ChannelId back = opposite(c);
    NodeQueues* const to = queues[places[back].vertex].get();
    if (from == nullptr || to == nullptr || !from->returns_room()) continue;
    RoomReturns* returns = nullptr;
    if (part_of(places[c].vertex) == part_of(places[back].vertex)) {
      returns = to->room_to_read(places[back].port);
    } else {
      mailed_room.resize(count());
      mailed_room[c] = std::make_unique<RoomReturns>();
      returns = mailed_room[c].get();
    }
    from->read_room(places[c].port, returns, Time::ps(cold[back].frame_ps));
  }
}

// A decision may be worked out as late as the far end of the cable, or whoever gets its room back, can't
// know. Where that is hardly later, or a flow of this host waits for it, it is worked out at its time.
void Channels::schedule_ports(NodeId v) {
  constexpr std::int64_t kWorthIt = 10'000;
  std::int64_t least_latency = INT64_MAX;
  bool cut = false;
  for (const std::uint32_t c : topology.out_channels(v)) {
    const topologies::Channel& wire = topology.channels()[c];
    least_latency = std::min(least_latency, wire.latency.ps());
    cut = cut || part_of(wire.to) != part_of(v);
  }
  if (topology.node(v).kind == topologies::NodeKind::kHost || least_latency < kWorthIt) {
    queues[v]->set_always_exact();
  }
  if (least_latency < kWorthIt) queues[v]->use_frames();
  for (const std::uint32_t c : topology.out_channels(v)) {
    const topologies::Channel& wire = topology.channels()[c];
    // Room is told of when it was worked out here, and looked for there as often.
    cold[c].slack_ps = queues[v]->returns_room() ? least_latency / 2 : least_latency;
    cold[c].frame_ps = wire.rate.serialization(control_bytes).ps() + wire.latency.ps();
    if (cut) hot[c].flags |= kWatched;
  }
}

// On every link the k-th of equal packets leaves (k − 1) times the slowest link's time so far after the
// first; the last packet, shorter perhaps, follows the one before it through every link.
Channels::PathTimes Channels::path_times(ChannelId nic_channel, HostId destination_host,
                                         std::uint32_t entropy, std::uint32_t bytes, std::uint32_t packets,
                                         std::uint32_t last_bytes) const {
  struct OnItsWay {
    std::int64_t head = 0, tail = 0;  // when the node has enough of it to send it on, and when all
    // Over one link; `ahead`: when that is free. Returns when the last bit leaves.
    std::int64_t cross(std::int64_t ahead, std::int64_t wire, std::int64_t header, std::int64_t delay) {
      const std::int64_t start = std::max({head, tail - wire, ahead});
      head = start + header + delay;
      tail = start + wire + delay;
      return start + wire;
    }
  };
  const auto wire_ps = [&](ChannelId c, std::uint32_t size) {
    return topology.channels()[c].rate.serialization(size).ps();
  };
  OnItsWay first, last;
  std::int64_t slowest = 0, acks = 0, waits = 0;
  std::uint32_t hops = 0;
  for (ChannelId c = nic_channel;;) {
    ++hops;
    const ChannelId back = opposite(c);
    acks += wire_ps(back, control_bytes) + way_ps(back);
    waits += wire_ps(back, bytes);
    const auto needed = [&](std::uint32_t size) {
      const bool cut_through = cut_through_ && !ends[c].is_host();
      return wire_ps(c, cut_through ? std::min(size, control_bytes) : size);
    };
    const std::int64_t full = wire_ps(c, bytes);
    slowest = std::max(slowest, full);
    const std::int64_t left = first.cross(0, full, needed(bytes), way_ps(c));
    const std::int64_t ahead = packets > 1 ? left + std::int64_t{packets - 2} * slowest : 0;
    last.cross(ahead, wire_ps(c, last_bytes), needed(last_bytes), way_ps(c));
    if (ends[c].is_host()) {
      if (ends[c].node() != topology.host(destination_host)) fail_no_way(nic_channel, destination_host);
      return {Time::ps(first.tail + acks), Time::ps(waits), Time::ps(last.tail), hops};
    }
    const NodeId at = ends[c].node();
    const auto candidates = original_table.candidates(at, destination_host);
    if (candidates.empty()) fail_no_way(nic_channel, destination_host);
    c = ChannelId(candidates[routing::hash_choice(entropy, salts[at], candidates.size())]);
  }
}

Time Channels::slowed_by(ChannelId nic_channel, HostId destination_host, std::uint32_t entropy,
                         std::uint64_t bytes) const {
  Bandwidth built = topology.channels()[nic_channel].rate, now = cold[nic_channel].rate;
  for (ChannelId c = nic_channel; !ends[c].is_host();) {
    const NodeId at = ends[c].node();
    const auto candidates = table->candidates(at, destination_host);
    if (candidates.empty()) return {};
    c = ChannelId(candidates[routing::hash_choice(entropy, salts[at], candidates.size())]);
    if (hot[c].flags & kDown) return {};
    built = std::min(built, topology.channels()[c].rate);
    now = std::min(now, cold[c].rate);
  }
  return now.serialization(bytes) - built.serialization(bytes);
}

bool Channels::leads_to(ChannelId nic_channel, HostId endpoint) const {
  const NodeId at = ends[nic_channel].node();
  if (ends[nic_channel].is_host()) return at == topology.host(endpoint);
  return !original_table.candidates(at, endpoint).empty();
}

// What its source sends through a NIC can't come to a host.
void Channels::fail_no_way(ChannelId nic_channel, HostId destination_host) const {
  const topologies::Channel& cable = topology.channels()[nic_channel];
  throw InputError(
      fmt::format("a message from {} to {} is to leave through the link to {}, from where there is no way; "
                  "choose a topology "
                  "in which all links of a host lead to all hosts, or other NICs (network.packet.nic_choice)",
                  topology.node(cable.from).name, topology.node(topology.host(destination_host)).name,
                  topology.node(cable.to).name));
}

std::uint64_t Channels::backlog_bytes(ChannelId c, std::int64_t backlog_ps) const {
  return bytes_in(cold[c].rate, Time::ps(backlog_ps));
}

std::uint64_t Channels::max_queue_bytes(ChannelId c) const { return backlog_bytes(c, hot[c].max_backlog_ps); }

std::uint64_t Channels::unsent_bytes(ChannelId c, Time now) const {
  const std::uint64_t unsent = backlog_bytes(c, std::max<std::int64_t>(0, hot[c].free_at_ps - now.ps()));
  return std::min(unsent, hot[c].bytes);
}

// What has a departure keeps it, whatever the rate is by then.
Time Channels::busy(ChannelId c, Time now) const {
  if (!busy_times_.any()) return cold[c].rate.serialization(hot[c].bytes - unsent_bytes(c, now));
  const Time ahead = Time::ps(std::max<std::int64_t>(hot[c].free_at_ps - now.ps(), 0));
  const Time all = busy_times_.busy(c, cold[c].rate, hot[c].bytes);
  return all - std::min(all, ahead);
}

std::uint64_t Channels::queue_bytes(ChannelId c, Time now) const {
  const std::uint64_t unsent = unsent_bytes(c, now);
  if (!(hot[c].flags & kScheduled)) return unsent;
  return unsent + queues[topology.channels()[c].from]->backlog_bytes(places[c].port);
}

}  // namespace weft::sim::packet
