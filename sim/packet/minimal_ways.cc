#include "sim/packet/minimal_ways.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>

namespace weft::sim::packet {

MinimalWays::MinimalWays(const Channels& channels, bool asked) : channels_(channels) {
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
  if (port >= out.size() || (channels_.ends[out[port]].is_host() &&
                             channels_.ends[out[port]].node() != channels_.topology.host(destination))) {
    throw std::logic_error("a routing policy chose a port that does not exist or leads to another host");
  }
  return ChannelId(out[port]);
}

}  // namespace weft::sim::packet
