// How long ways are, in the channels that packets climb: a proof that they can't wait for each other in a
// circle, where it holds, that takes one walk over the ways and no graph of what waits for what.
//
// If channels can be numbered such that packets only ever wait for higher ones than they hold, none wait in a
// circle (W. Dally, C. Seitz, 1987). With ChannelRule::kByHop the number is the virtual channel, which grows
// with each link between switches (K. D. Günther, 1981); with kByGroup twice that, and one more for a link
// that leaves a group; unless a way has so many links that its last ones share the last channel. Trees need
// no virtual channels, as the links themselves ascend: up, then down.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/routing/paths/dependencies.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

struct Ascent {
  std::uint32_t hops = 0;      // virtual channels with which kByHop ascends on every way: its most links
  std::uint32_t by_group = 0;  // the same for kByGroup
  // Every way leads away from hosts first, in links, then back to them, never between switches as far away.
  bool up_then_down = true;
  std::uint64_t work = 0;  // steps that were looked at
};

// Walks all ways that find_dependencies() looks at, or some more. Returns nothing where some lead round in
// circles, or it would take more than `most_work`.
std::optional<Ascent> find_ascent(const topologies::Topology& topology, const RoutingTable& table,
                                  const std::vector<Travellers>& travellers,
                                  std::uint64_t most_work = UINT64_MAX);

}  // namespace weft::routing
