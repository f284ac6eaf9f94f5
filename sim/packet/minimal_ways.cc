#include "sim/packet/minimal_ways.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>

namespace weft::sim::packet {

MinimalWays::MinimalWays(const Channels& channels, bool asked, const SwitchPolicies* policies)
    : channels_(channels), policies_(policies) {
  if (!asked) return;
  std::size_t most_ports = 0;
  for (std::uint32_t v = 0; v < channels_.topology.nodes(); ++v) {
    exits_begin_.push_back(static_cast<std::uint32_t>(exits_.size()));
    const auto out = channels_.topology.out_channels(v);
    for (const std::uint32_t c : out) exits_.push_back(c | (channels_.ends[c].is_host() ? kHostBit : 0));
    most_ports = std::max(most_ports, out.size());
  }
  exits_begin_.push_back(static_cast<std::uint32_t>(exits_.size()));
  numbers_.resize(most_ports);
  std::iota(numbers_.begin(), numbers_.end(), 0);
}

const MinimalWays::Set& MinimalWays::learn_set(std::uint32_t set) {
  if (reroutes_ != channels_.reroutes) {
    reroutes_ = channels_.reroutes;
    sets_.clear();
  }
  if (set >= sets_.size()) sets_.resize(set + 1);
  Set& known = sets_[set];
  if (known.first_port != Set::kUnknown) return known;
  const routing::RoutingTable::Run run = channels_.table->run_of(set);
  known = {.first = run.first,
           .count = static_cast<std::uint16_t>(run.count),
           .stride = static_cast<std::uint16_t>(run.stride),
           .first_port = Set::kIrregular};
  if (run.count == 0) return known;
  const std::uint32_t first = channels_.places[run.first].port;
  for (std::uint32_t i = 1; i < run.count; ++i) {
    if (channels_.places[known.channel(i)].port != first + i) return known;
  }
  if (first < Set::kIrregular) known.first_port = static_cast<std::uint16_t>(first);
  return known;
}

std::span<const std::uint32_t> MinimalWays::list_ports(NodeId at, std::uint32_t host,
                                                       std::vector<std::uint32_t>& room) const {
  room.clear();
  for (const std::uint32_t c : channels_.table->candidates(at, host)) {
    if (channels_.degraded && (channels_.hot[c].flags & kDown)) continue;
    room.push_back(channels_.places[c].port);
  }
  return room;
}

ChannelId MinimalWays::exit_to_host(NodeId at, std::uint32_t port, std::uint32_t destination) const {
  const auto out = channels_.topology.out_channels(at);
  const topologies::Topology& topology = channels_.topology;
  const auto fail = [&](const std::string& what) {
    const std::string all = fmt::format("it chose port {}, {}", port, what);
    if (policies_ != nullptr) policies_->fail_at(topology.node(at).name, all);
    throw std::logic_error("a routing policy at " + topology.node(at).name + ": " + all);
  };
  if (port >= out.size()) fail(fmt::format("but ports are 0 to {}", out.size() - 1));
  const auto& end = channels_.ends[out[port]];
  if (end.is_host() && end.node() != topology.host(destination)) {
    fail(fmt::format("which leads to {}, for a packet to {}", topology.node(end.node()).name,
                     topology.node(topology.host(destination)).name));
  }
  return ChannelId(out[port]);
}

}  // namespace weft::sim::packet
