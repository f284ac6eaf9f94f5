// An order of channels that all dependencies of a virtual channel follow, so that there is no circle.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/routing/parts/channel_graph.h"

namespace weft::routing {

// Kept up as dependencies are added (D. J. Pearce, P. H. J. Kelly, A dynamic topological sort algorithm for
// directed acyclic graphs, ACM JEA 11, 2006). What is taken away changes nothing.
class ChannelOrder {
 public:
  // Where a search for a circle ends: so many steps, and it counts as one.
  static constexpr std::uint32_t kMostSteps = 512;
  static constexpr std::uint32_t kNoEnd = UINT32_MAX;

  // `present`: by step, with this bit those that are there. Both must outlive it.
  ChannelOrder(const ChannelGraph& graph, const std::vector<std::uint16_t>& present, std::uint32_t bit);

  // Could the second channel follow the first, or does that close a circle? If not the order allows for it
  // from now on, whether the step is added or not.
  bool admit(std::uint32_t from, std::uint32_t to, std::uint32_t most_steps = kMostSteps);

 private:
  bool is_there(std::uint32_t step) const { return present_[step] >> bit_ & 1; }
  // All that `from` leads to, up to this place in the order; false: to that place itself.
  bool look_ahead(std::uint32_t from, std::uint32_t last, std::uint32_t most_steps);
  void look_behind(std::uint32_t to, std::uint32_t first);
  // What is behind comes before what is ahead, in the places that both have.
  void reorder();

  const ChannelGraph& graph_;
  const std::vector<std::uint16_t>& present_;
  const std::uint32_t bit_;
  std::vector<std::uint32_t> order_;  // by channel: its place
  std::vector<bool> seen_;            // by channel
  std::vector<std::uint32_t> ahead_, behind_, places_;
};

}  // namespace weft::routing
