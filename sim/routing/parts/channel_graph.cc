#include "sim/routing/parts/channel_graph.h"

#include <fmt/format.h>

#include "sim/units/grouped.h"
#include "sim/units/input_error.h"

namespace weft::routing {

using topologies::NodeKind;
using topologies::Topology;

ChannelGraph::ChannelGraph(const Topology& topology)
    : end_(topology.channels().size(), kHost), begin_{0}, place_(topology.channels().size()), first_{0} {
  const auto index = [&](std::uint32_t v) { return topology.node(v).index; };
  const auto is_switch = [&](std::uint32_t v) { return topology.node(v).kind == NodeKind::kSwitch; };
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    for (const std::uint32_t c : topology.out_channels(topology.switch_at(s))) {
      if (!is_switch(topology.channels()[c].to)) continue;
      end_[c] = index(topology.channels()[c].to);
      place_[c] = static_cast<std::uint32_t>(out_.size()) - begin_.back();
      out_.push_back(c);
    }
    begin_.push_back(static_cast<std::uint32_t>(out_.size()));
  }
  std::uint64_t steps = 0;
  for (std::uint32_t c = 0; c < end_.size(); ++c) {
    steps += after(c).size();
    if (steps > UINT32_MAX) {
      throw InputError(
          fmt::format("{} is too large: packets can go on from a link to the next in more than {} "
                      "ways",
                      topology.name(), grouped(UINT32_MAX)));
    }
    first_.push_back(static_cast<std::uint32_t>(steps));
  }
}

}  // namespace weft::routing
