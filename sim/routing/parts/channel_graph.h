// Which channel between switches packets may go to from which: the places that dependencies of virtual
// channels have, before any way says which of them there are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::routing {

// Channels and steps, from a channel to one that leaves where it ends, are numbered.
class ChannelGraph {
 public:
  explicit ChannelGraph(const topologies::Topology& topology);

  std::uint32_t channels() const { return static_cast<std::uint32_t>(first_.size() - 1); }
  std::uint32_t steps() const { return first_.back(); }
  // The channels after this one: their steps are numbered from first_step() on. Empty for hosts' cables.
  std::span<const std::uint32_t> after(std::uint32_t channel) const {
    const std::uint32_t at = end_[channel];
    if (at == kHost) return {};
    return {out_.data() + begin_[at], out_.data() + begin_[at + 1]};
  }
  std::uint32_t first_step(std::uint32_t channel) const { return first_[channel]; }
  // The channels before this one; their steps to it are step(channel before, this one).
  template <typename Visit>
  void each_before(std::uint32_t channel, Visit&& visit) const {
    const std::uint32_t at = end_[channel ^ 1];
    for (std::uint32_t i = begin_[at]; i < begin_[at + 1]; ++i) {
      visit(out_[i] ^ 1, first_[out_[i] ^ 1] + place_[channel]);
    }
  }
  // REQUIRES: `to` leaves the switch where `from` ends, and both lead from switch to switch.
  std::uint32_t step(std::uint32_t from, std::uint32_t to) const { return first_[from] + place_[to]; }

 private:
  static constexpr std::uint32_t kHost = UINT32_MAX;
  std::vector<std::uint32_t> end_;          // by channel: the switch; kHost
  std::vector<std::uint32_t> begin_, out_;  // channels to other switches, by switch
  std::vector<std::uint32_t> place_;        // by channel: among those of its switch
  std::vector<std::uint32_t> first_;        // by channel: its first step
};

}  // namespace weft::routing
