#include "sim/routing/table/host_classes.h"

#include <algorithm>
#include <map>

#include "sim/routing/table/switch_links.h"

namespace weft::routing {

std::vector<HostClass> classify(const topologies::Topology& topology, const std::vector<bool>& down_links,
                                std::span<const std::uint32_t> hosts, std::vector<std::uint32_t>& class_of) {
  constexpr std::uint32_t kCut = UINT32_MAX;
  std::vector<HostClass> classes;
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  std::vector<std::uint32_t> key, last;  // hosts of a class mostly follow each other
  class_of.clear();
  for (const std::uint32_t h : hosts) {
    const auto vertex = static_cast<std::uint32_t>(topology.host(h));
    key.clear();
    bool beside_host = false;
    for (const std::uint32_t channel : topology.out_channels(vertex)) {
      key.push_back(is_down(down_links, channel) ? kCut : topology.channels()[channel].to);
      beside_host |= key.back() != kCut && topology.node(key.back()).kind == topologies::NodeKind::kHost;
    }
    // Its neighbour reaches it directly.
    if (beside_host) key.push_back(vertex);
    key.push_back(topology.node(vertex).domain);
    if (class_of.empty() || key != last) {
      const auto [position, is_new] = known.emplace(key, static_cast<std::uint32_t>(classes.size()));
      class_of.push_back(position->second);
      last = key;
      if (is_new) {
        HostClass& fresh = classes.emplace_back();
        fresh.representative = h;
        fresh.beside_host = beside_host;
        fresh.domain = key.back();
        key.resize(key.size() - (beside_host ? 2 : 1));
        for (const std::uint32_t v : key) {
          const bool is_known =
              std::find(fresh.neighbours.begin(), fresh.neighbours.end(), v) != fresh.neighbours.end();
          if (v != kCut && !is_known) fresh.neighbours.push_back(v);
        }
      }
    } else {
      class_of.push_back(class_of.back());
    }
    ++classes[class_of.back()].members;
  }
  return classes;
}

}  // namespace weft::routing
