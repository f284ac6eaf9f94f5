#include "sim/packet/least_times.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft::sim::packet {

Time LeastTimes::one_way(std::span<const ChannelId> nic_channels, HostId destination_host, std::uint32_t hops,
                         std::uint32_t packet_bytes, std::uint32_t packets, std::uint32_t last_bytes) {
  const topologies::Topology& topology = channels_.topology;
  std::int64_t bps = 0;
  for (const ChannelId c : nic_channels) bps += topology.channels()[c].rate.bps();
  Bandwidth at_end;
  std::int64_t last_ps = INT64_MAX;
  for (const std::uint32_t c : topology.out_channels(topology.host(destination_host))) {
    const ChannelId in = opposite(ChannelId(c));
    at_end = std::max(at_end, topology.channels()[in].rate);
    last_ps = std::min(last_ps, delay_ps(in));
  }
  Middle way = quickest(nic_channels, destination_host, hops, packet_bytes);
  if (hops > 1) way.delay_ps += last_ps;
  // Gives the time that a packet still takes whose last bit has left its NIC. Headers alone don't slow one
  // down that is cut through.
  const auto rest = [&](std::uint32_t bytes) {
    if (hops == 1 || channels_.cuts_through()) return way.delay_ps;
    return static_cast<std::int64_t>(way.cost(bytes)) + at_end.serialization(bytes).ps();
  };
  const Bandwidth out = Bandwidth::bps(bps);
  const std::uint64_t full = std::uint64_t{packets - 1} * packet_bytes;
  std::int64_t least_ps = out.serialization(full + last_bytes).ps() + rest(last_bytes);
  if (packets > 1) least_ps = std::max(least_ps, out.serialization(full).ps() + rest(packet_bytes));
  if (out > channels_.switch_links.slowest) {
    const Bandwidth step = least_step(nic_channels, destination_host);
    // All but one packet have passed there before one has its whole way.
    const std::int64_t behind = out.serialization(last_bytes).ps() + rest(last_bytes);
    least_ps = std::max({least_ps, step.serialization(full + last_bytes).ps() + way.delay_ps,
                         step.serialization(full).ps() + behind});
  }
  return Time::ps(least_ps);
}

// From the host on, without the last cable.
LeastTimes::Middle LeastTimes::quickest(std::span<const ChannelId> nic_channels, HostId destination_host,
                                        std::uint32_t hops, std::uint32_t packet_bytes) {
  const Channels::SwitchLinks& links = channels_.switch_links;
  Middle best{.delay_ps = INT64_MAX, .ps_per_byte = 0};
  for (const ChannelId c : nic_channels) {
    Middle way;
    if (hops > 2 && links.alike) {
      way.delay_ps = links.delay.ps() * (hops - 2);
      way.ps_per_byte = static_cast<double>(hops - 2) * 8e12 / static_cast<double>(links.rate.bps());
    } else if (hops > 2 && !channels_.ends[c].is_host()) {
      way = between(channels_.ends[c].node(), destination_host, packet_bytes);
    }
    way.delay_ps += delay_ps(c);
    if (best.delay_ps == INT64_MAX || way.cost(packet_bytes) < best.cost(packet_bytes)) best = way;
  }
  return best;
}

LeastTimes::Middle LeastTimes::between(NodeId from, HostId destination_host, std::uint32_t packet_bytes) {
  const auto [place, fresh] = known_.try_emplace(ends_of(from, destination_host));
  if (fresh) place->second = search(from, destination_host, packet_bytes);
  return place->second;
}

std::uint64_t LeastTimes::ends_of(NodeId from, HostId destination_host) const {
  const topologies::Topology& topology = channels_.topology;
  const auto host = topology.host(destination_host);
  const auto cables = topology.out_channels(host);
  const std::uint32_t end = cables.size() == 1 ? topology.channels()[cables[0]].to : host;
  return std::uint64_t{from} << 32 | end;
}

// All shortest paths at once, a link further with each round.
LeastTimes::Middle LeastTimes::search(NodeId from, HostId destination_host, std::uint32_t packet_bytes) {
  const std::uint32_t bytes = channels_.cuts_through() ? 0 : packet_bytes;
  const auto quicker = [&](const Reached& a, const Reached& b) {
    return a.node != b.node ? a.node < b.node : a.way.cost(bytes) < b.way.cost(bytes);
  };
  Middle best;
  double least = std::numeric_limits<double>::infinity();
  here_.assign(1, {from, {}});
  while (!here_.empty()) {
    next_.clear();
    for (const Reached& at : here_) {
      for (const std::uint32_t candidate : channels_.original_table.candidates(at.node, destination_host)) {
        const ChannelId c{candidate};
        if (channels_.ends[c].is_host()) {
          if (at.way.cost(bytes) >= least) continue;
          best = at.way;
          least = best.cost(bytes);
          continue;
        }
        const auto bps = static_cast<double>(channels_.topology.channels()[c].rate.bps());
        next_.push_back(
            {channels_.ends[c].node(), {at.way.delay_ps + delay_ps(c), at.way.ps_per_byte + 8e12 / bps}});
      }
    }
    std::ranges::sort(next_, quicker);
    const auto repeated = std::ranges::unique(next_, {}, &Reached::node);
    next_.erase(repeated.begin(), repeated.end());
    std::swap(here_, next_);
  }
  return best;
}

// The delay of a cable and of the pipeline of the switch at its end.
std::int64_t LeastTimes::delay_ps(ChannelId c) const {
  const topologies::Channel& wire = channels_.topology.channels()[c];
  const topologies::Node& end = channels_.topology.node(wire.to);
  return wire.latency.ps() + (end.kind == topologies::NodeKind::kHost ? 0 : end.switch_latency.ps());
}

// The least that the links of a step of the shortest paths carry together, from the ends of these NICs on.
Bandwidth LeastTimes::least_step(std::span<const ChannelId> nic_channels, HostId destination_host) {
  const topologies::Topology& topology = channels_.topology;
  const auto target = NodeId{static_cast<std::uint32_t>(topology.host(destination_host))};
  std::int64_t least_bps = INT64_MAX;
  step_.clear();
  for (const ChannelId c : nic_channels) step_.push_back(channels_.ends[c].node());
  while (std::ranges::find(step_, target) == step_.end()) {
    std::int64_t bps = 0;
    step_on(destination_host, [&](ChannelId c) {
      bps += topology.channels()[c].rate.bps();
      return true;
    });
    if (step_.empty()) break;  // no way; told where it is taken
    least_bps = std::min(least_bps, bps);
  }
  return Bandwidth::bps(least_bps);
}

// From the nodes of a step to those of the next, over the links that `takes` says yes to.
template <typename Takes>
void LeastTimes::step_on(HostId destination_host, const Takes& takes) {
  next_step_.clear();
  for (const NodeId at : step_) {
    for (const std::uint32_t candidate : channels_.original_table.candidates(at, destination_host)) {
      const ChannelId c{candidate};
      if (takes(c)) next_step_.push_back(channels_.ends[c].node());
    }
  }
  std::ranges::sort(next_step_);
  const auto repeated = std::ranges::unique(next_step_);
  next_step_.erase(repeated.begin(), repeated.end());
  std::swap(step_, next_step_);
}

void LeastTimes::Rates::add(const Channels& channels, ChannelId c) {
  built_bps += channels.topology.channels()[c].rate.bps();
  if (!(channels.hot[c].flags & kDown)) now_bps += channels.cold[c].rate.bps();
}

void LeastTimes::Rates::keep_least(const Rates& other) {
  built_bps = std::min(built_bps, other.built_bps);
  now_bps = std::min(now_bps, other.now_bps);
}

Time LeastTimes::slowed_by(std::span<const ChannelId> nic_channels, HostId destination_host,
                           std::uint64_t bytes) {
  if (std::exchange(changes_, channels_.link_changes) != channels_.link_changes) known_rates_.clear();
  const topologies::Topology& topology = channels_.topology;
  Rates first, last, middle;
  for (const ChannelId c : nic_channels) first.add(channels_, c);
  for (const std::uint32_t c : topology.out_channels(topology.host(destination_host)))
    last.add(channels_, opposite(ChannelId(c)));
  first.keep_least(last);
  for (const ChannelId c : nic_channels) {
    if (channels_.ends[c].is_host()) continue;
    const NodeId from = channels_.ends[c].node();
    const auto [place, fresh] = known_rates_.try_emplace(ends_of(from, destination_host));
    if (fresh) place->second = least_rates(from, destination_host);
    middle.built_bps += std::min(place->second.built_bps, first.built_bps);
    middle.now_bps += std::min(place->second.now_bps, first.built_bps);
  }
  if (middle.built_bps > 0) first.keep_least(middle);
  if (first.now_bps == 0) return {};
  return Bandwidth::bps(first.now_bps).serialization(bytes) -
         Bandwidth::bps(first.built_bps).serialization(bytes);
}

// Looks at the steps between the switch and the last cables. Without any they are beyond what hosts send.
LeastTimes::Rates LeastTimes::least_rates(NodeId from, HostId destination_host) {
  Rates least{.built_bps = INT64_MAX, .now_bps = INT64_MAX};
  for (step_.assign(1, from);;) {
    Rates rates;
    step_on(destination_host, [&](ChannelId c) {
      if (channels_.ends[c].is_host()) return false;
      rates.add(channels_, c);
      return true;
    });
    if (step_.empty()) return least;
    least.keep_least(rates);
  }
}

}  // namespace weft::sim::packet
