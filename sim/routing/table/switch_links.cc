#include "sim/routing/table/switch_links.h"

namespace weft::routing {

SwitchLinks::SwitchLinks(const topologies::Topology& topology) {
  const auto each = [&](std::uint32_t s, auto&& visit) {
    for (const std::uint32_t channel : topology.out_channels(topology.switch_at(s))) {
      const topologies::Node& end = topology.node(topology.channels()[channel].to);
      if (end.kind == topologies::NodeKind::kSwitch) visit(end.index, channel);
    }
  };
  begin_.assign(std::size_t{topology.switches()} + 1, 0);
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    begin_[s + 1] = begin_[s];
    each(s, [&](std::uint32_t, std::uint32_t) { ++begin_[s + 1]; });
  }
  links_.reserve(begin_.back());
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    each(s, [&](std::uint32_t to, std::uint32_t channel) { links_.push_back({to, channel}); });
  }
}

}  // namespace weft::routing
