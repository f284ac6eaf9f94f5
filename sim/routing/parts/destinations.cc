#include "sim/routing/parts/destinations.h"

#include <algorithm>
#include <map>

#include "sim/routing/table/switch_links.h"

namespace weft::routing {

using topologies::NodeKind;
using topologies::Topology;

Destinations::Destinations(const Topology& topology, const std::vector<bool>& down_links)
    : hosts_at_(topology.switches()) {
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  std::vector<std::uint32_t> ends;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    ends.clear();
    for (const std::uint32_t c : topology.out_channels(topology.host(host))) {
      const topologies::Node& end = topology.node(topology.channels()[c].to);
      if (end.kind == NodeKind::kSwitch && !is_down(down_links, c)) ends.push_back(end.index);
    }
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    for (const std::uint32_t s : ends) ++hosts_at_[s];
    const auto [found, is_new] = known.emplace(ends, size());
    of_host_.push_back(found->second);
    cable_port_.push_back(kNone);
    if (const auto cables = topology.out_channels(topology.host(host)); cables.size() == 1 && !ends.empty()) {
      const auto ports = topology.out_channels(topology.switch_at(ends.front()));
      cable_port_.back() =
          static_cast<std::uint32_t>(std::ranges::find(ports, cables.front() ^ 1) - ports.begin());
    }
    if (is_new) hosts_.push_back(0);
    ++hosts_[found->second];
    if (!is_new) continue;
    switches_.insert(switches_.end(), ends.begin(), ends.end());
    begin_.push_back(static_cast<std::uint32_t>(switches_.size()));
  }
}

bool Destinations::ends_at(std::uint32_t s, std::uint32_t destination) const {
  return std::ranges::binary_search(switches(destination), s);
}

void add_cables(const Topology& topology, const std::vector<bool>& down_links, std::uint32_t s,
                std::uint32_t host, std::vector<std::uint32_t>& channels) {
  for (const std::uint32_t c : topology.out_channels(topology.host(host))) {
    if (topology.channels()[c].to == topology.switch_at(s) && !is_down(down_links, c)) {
      channels.push_back(c ^ 1);
    }
  }
}

}  // namespace weft::routing
