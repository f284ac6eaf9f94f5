#include "sim/routing/table/uneven_choices.h"

#include <numeric>
#include <vector>

#include "sim/routing/table/host_classes.h"

namespace weft::routing {
namespace {

bool differ(const topologies::Topology& topology, auto&& channels) {
  const auto& all = topology.channels();
  for (const std::uint32_t c : channels) {
    if (all[c].rate.bps() != all[*channels.begin()].rate.bps()) return true;
  }
  return false;
}

// Links to hosts are among them only where a host has several.
bool has_several_rates(const topologies::Topology& topology, topologies::Vertex at) {
  std::vector<std::uint32_t> chosen;
  for (const std::uint32_t c : topology.out_channels(at)) {
    const topologies::Vertex end = topology.channels()[c].to;
    const bool leads_on = topology.node(end).kind == topologies::NodeKind::kSwitch;
    if (leads_on || topology.out_channels(end).size() > 1) chosen.push_back(c);
  }
  return differ(topology, chosen);
}

}  // namespace

bool has_uneven_choices(const topologies::Topology& topology, const RoutingTable& table) {
  std::vector<std::uint32_t> hosts(topology.hosts()), class_of;
  std::iota(hosts.begin(), hosts.end(), 0u);
  std::vector<HostClass> classes;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    const topologies::Vertex at = topology.switch_at(s);
    if (!has_several_rates(topology, at)) continue;
    if (classes.empty()) classes = classify(topology, {}, hosts, class_of);
    for (const HostClass& each : classes) {
      if (differ(topology, table.candidates(at, each.representative))) return true;
    }
  }
  return false;
}

}  // namespace weft::routing
