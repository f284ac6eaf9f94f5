#include "sim/flow/way_terms.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "sim/units/long_times.h"

namespace weft::sim::flow {

WayTerms::WayTerms(const topologies::Topology& topology, const FlowConfig& config, Paths& paths,
                   const Fluids& fluids)
    : topology_(topology), config_(config), paths_(paths), fluids_(fluids) {
  for (const topologies::Channel& wire : topology_.channels()) {
    const topologies::Node& end = topology_.node(wire.to);
    const bool at_host = end.kind == topologies::NodeKind::kHost;
    delay_.push_back(at_host ? wire.latency : wire.latency + end.switch_latency);
    if (wire.latency > kLongestDelay || delay_.back() > kLongestDelay) {
      fail_too_slow(fmt::format("the link {} -> {}", topology_.node(wire.from).name, end.name), wire.latency);
    }
    full_packet_.push_back(wire.rate.serialization(config_.mtu_bytes + config_.header_bytes));
    header_.push_back(wire.rate.serialization(config_.header_bytes));
  }
}

Terms WayTerms::find(Flow& flow, Way& way) {
  paths_.find(flow.trip, way);
  if (!way.open) return {};
  flow.latency = latency_of(flow, way.hops);
  if (flow.message.notify_sent) flow.answer = answer(way.hops);
  Rate cap = config_.max_rate.bps() > 0 ? to_rate(config_.max_rate) : kMostRate;
  if (config_.window_bytes > 0) {
    const auto amount = kBytePs * config_.window_bytes;
    const auto rate =
        amount / static_cast<std::uint64_t>(std::max<std::int64_t>(round_trip(way.hops).ps(), 1));
    cap = static_cast<Rate>(std::min<Amount>(static_cast<Amount>(cap), std::max<Amount>(rate, 1)));
  }
  std::uint32_t weight = 1;
  if (!config_.equal_shares) {
    // A round trip of 100 ns, and any shorter one, has the most.
    const std::int64_t ps = std::max<std::int64_t>(round_trip(way.hops).ps(), 100'000);
    weight = static_cast<std::uint32_t>(
        std::max<std::int64_t>(std::int64_t{MaxMin::kMostWeight} * 100'000 / ps, 1));
  }
  if (flow.ideal == Time() || flow.message.control) {
    const Rate alone = rate_alone(flow, way, cap);
    flow.ideal = after(time_for(kBytePs * flow.wire_bytes, std::max<Rate>(alone, 1)), flow.latency);
  }
  return {weight, cap};
}

Rate WayTerms::rate_alone(const Flow& flow, const Way& way, Rate cap) {
  Rate alone = cap;
  const bool balances = paths_.detours() != nullptr;
  if (balances) paths_.find_alone(flow.trip, alone_);
  for (const Use& use : balances ? alone_.uses : way.uses) {
    const Rate whole = balances ? paths_.capacity(use.resource) : fluids_.capacity(use.resource);
    const auto through = static_cast<Amount>(whole) * kWhole / use.share;
    alone = static_cast<Rate>(std::min<Amount>(static_cast<Amount>(alone), through));
  }
  return alone;
}

// From the last byte's leaving to its arrival. The slowest link of the path sends all the while. The links
// before it add the time of the first packet, those after it that of the last one, which may have to wait
// there for the one before it, if that is longer.
Time WayTerms::latency_of(const Flow& flow, std::span<const std::uint32_t> hops) const {
  const std::uint32_t full = config_.mtu_bytes + config_.header_bytes;
  const auto last = static_cast<std::uint32_t>(flow.wire_bytes - std::uint64_t{flow.packets - 1} * full);
  const std::uint32_t first = flow.packets > 1 ? full : last;
  const auto& channels = topology_.channels();
  const auto wire_time = [&](std::uint32_t c, std::uint32_t bytes) {
    return bytes == full ? full_packet_[c] : channels[c].rate.serialization(bytes);
  };
  std::size_t slowest = 0;
  for (std::size_t i = 1; i < hops.size(); ++i) {
    if (channels[hops[i]].rate <= channels[hops[slowest]].rate) slowest = i;
  }
  // Cables and pipelines delay all packets alike, so they are counted apart.
  Time delays = config_.send_delay + config_.receive_delay + config_.host_delay;
  Time sum, ahead;  // ahead: when the packet before the last has left
  for (std::size_t i = 0; i < hops.size(); ++i) {
    const std::uint32_t c = hops[i];
    delays = delays + delay_[c];
    if (config_.cut_through) {
      // Switches send on from the header; hosts wait for the rest.
      if (i + 1 < hops.size()) sum = sum + wire_time(c, std::min(first, config_.header_bytes));
    } else if (i < slowest) {
      sum = sum + wire_time(c, first);
    } else if (i == slowest) {
      ahead = sum - wire_time(c, last);
    } else {
      ahead = ahead + full_packet_[c];
      if (flow.packets > 1) sum = std::max(sum, ahead);
      sum = sum + wire_time(c, last);
    }
  }
  return delays + sum;
}

// A full packet goes there, and its acknowledgement comes back.
Time WayTerms::round_trip(std::span<const std::uint32_t> hops) const {
  Time sum = config_.send_delay + config_.receive_delay + config_.host_delay + answer(hops);
  for (const std::uint32_t c : hops) sum = sum + delay_[c] + full_packet_[c];
  return sum;
}

// An acknowledgement is no larger than a header, and goes back over the same cables.
Time WayTerms::answer(std::span<const std::uint32_t> hops) const {
  Time sum = config_.send_delay + config_.receive_delay;
  for (const std::uint32_t c : hops) sum = sum + delay_[c] + header_[c];
  return sum;
}

}  // namespace weft::sim::flow
