#include "sim/placement/quality.h"

#include <algorithm>
#include <set>

#include "topologies/graph/host_units.h"

namespace weft::placement {

namespace {

std::uint32_t units_used(const topologies::HostUnits& units, std::span<const std::uint32_t> hosts) {
  std::set<std::uint32_t> used;
  for (const std::uint32_t h : hosts) used.insert(units.of[h]);
  return static_cast<std::uint32_t>(used.size());
}

// By host: the machine of several accelerators that it is part of, or itself.
std::vector<std::uint32_t> nodes_of(const topologies::Topology& topology) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    const std::uint32_t domain = topology.node(topology.host(host)).domain;
    nodes.push_back(domain == topologies::kNoDomain ? host : topology.hosts() + domain);
  }
  return nodes;
}

}  // namespace

Quality quality_of(const topologies::Topology& topology, std::span<const std::uint32_t> hosts,
                   std::span<const Exchange> exchanges, const HostDistances& distances) {
  using topologies::HostUnit;
  Quality quality;
  const std::vector<std::uint32_t> nodes = nodes_of(topology);
  std::set<std::uint32_t> used;
  for (const std::uint32_t host : hosts) used.insert(nodes[host]);
  quality.nodes = static_cast<std::uint32_t>(used.size());
  quality.switches = units_used(topologies::host_units(topology, HostUnit::kSwitch), hosts);
  quality.groups = units_used(topologies::host_units(topology, HostUnit::kGroup), hosts);
  double dilation = 0;
  for (const Exchange& each : exchanges) {
    const std::uint32_t from = hosts[each.from], to = hosts[each.to], hops = distances.hops(from, to);
    ++quality.pairs;
    quality.bytes += each.bytes;
    quality.hop_bytes += each.bytes * hops;
    if (nodes[from] == nodes[to]) {
      quality.bytes_on_node += each.bytes;
    } else if (hops == 0) {
      quality.bytes_on_switch += each.bytes;
    }
    dilation += hops;
    quality.worst_dilation = std::max(quality.worst_dilation, hops);
    if (quality.bytes_by_hops.size() <= hops) quality.bytes_by_hops.resize(hops + 1, 0);
    quality.bytes_by_hops[hops] += each.bytes;
  }
  if (quality.pairs > 0) quality.mean_dilation = dilation / static_cast<double>(quality.pairs);
  return quality;
}

}  // namespace weft::placement
