// Layers of a network: shares of its links, drawn at random, in each of which ways are as short as can be.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sim/routing/path_model.h"
#include "sim/routing/switch_plan.h"
#include "sim/routing/table/routing_table.h"

namespace weft::routing {

// Layer 0 is the whole network, and routed by its own table. Each other one has all links to hosts, and a
// share of those between switches; where its ways would be more than kMostStretch times as long as the
// network's longest, it gets back half of what it lacks, until they aren't. (They are measured from 64
// destinations spread over the network; all if there are no more.)
//
// A layer takes two bits for each pair of switches and about 70 bytes a host: nine of 10,000 switches and
// 160,000 hosts 300 MB.
class Layers {
 public:
  static constexpr std::uint32_t kMost = PathModel::kMostStates;
  static constexpr std::uint32_t kMostStretch = 2;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  // What the ports of all may take, a number for each layer, switch and destination.
  static constexpr std::size_t kQuickBytes = 16 << 20;

  // `share`: of the links between switches that the layers but the first keep. REQUIRES: 1 <= count <= kMost,
  // 0 < share <= 1.
  Layers(const PlanSetup& setup, std::uint32_t count, double share);
  // These links are down, and no way leads over them any more. `down_links`: by link.
  void rebuild(const std::vector<bool>& down_links);

  std::uint32_t count() const { return static_cast<std::uint32_t>(sparse_.size()) + 1; }
  const topologies::Topology& topology() const { return topology_; }
  // The shortest ways of a layer. No candidates: the layer doesn't lead there.
  const RoutingTable& table(std::uint32_t layer) const {
    return layer == 0 ? network_ : sparse_[layer - 1].table;
  }
  // The port of `at`, a switch, to the next one in a layer that choose(count) picks, count being that of all
  // candidates; kNone: the layer doesn't lead there. Quicker than the table, where that takes little memory.
  // REQUIRES: no link is down.
  template <typename Choose>
  std::uint32_t port(std::uint32_t layer, std::uint32_t switch_index, topologies::Vertex at,
                     std::uint32_t host, const Choose& choose) const {
    if (!codes_.empty()) {
      const std::size_t entry = std::size_t{switch_index} * classes_ + class_of_[host];
      const std::uint16_t code = codes_[entry * count() + layer];
      if (code < kSets) [[likely]]
        return code;
      if (code == kCabled) {
        if (home_port_[host] != kNone) return home_port_[host];
      } else {
        const PortSet& set = sets_[first_set_[switch_index] + code - kSets];
        return set.count == 0 ? kNone : pool_[set.first + choose(std::size_t{set.count})];
      }
    }
    const std::uint32_t channel = table(layer).candidate(at, host, choose);
    return channel == RoutingTable::kNone ? kNone : port_of_[channel];
  }
  // Gives port()'s port in a span where what is quickly looked up says that there is one candidate; the span
  // is empty where it doesn't, or there are several.
  std::span<const std::uint32_t> only_port(std::uint32_t layer, std::uint32_t switch_index,
                                           std::uint32_t host) const {
    if (codes_.empty()) return {};
    const std::size_t entry = std::size_t{switch_index} * classes_ + class_of_[host];
    const std::uint16_t code = codes_[entry * count() + layer];
    if (code < kSets) [[likely]]
      return {&numbers_[code], 1};
    if (code == kCabled && home_port_[host] != kNone) return {&home_port_[host], 1};
    return {};
  }
  // Where port() looks.
  Lookup lookup() const {
    if (codes_.empty()) return {};
    const std::size_t entry_bytes = count() * sizeof(codes_[0]);
    return {.table = codes_.data(),
            .row_bytes = classes_ * entry_bytes,
            .entry_bytes = entry_bytes,
            .entry_of = class_of_.data()};
  }
  // Gives the port of a channel that leaves a switch.
  std::uint32_t port_of(std::uint32_t channel) const { return port_of_[channel]; }
  // Is the link one of the layer's, as drawn?
  bool has_link(std::uint32_t layer, std::uint32_t link) const {
    return layer == 0 || !sparse_[layer - 1].without[link];
  }

 private:
  struct Sparse {
    std::vector<bool> without;  // by link
    RoutingTable table;
  };

  // Ports towards a destination: so many in the pool from `first` on.
  struct PortSet {
    std::uint32_t first = 0, count = 0;
  };
  // A code stands for ports: it is the only one's number, kSets and that of one of the switch's sets, or says
  // that the destination is cabled here.
  static constexpr std::uint16_t kSets = 1 << 15, kCabled = UINT16_MAX;

  void list_ports();
  std::uint32_t code_of(std::uint32_t layer, topologies::Vertex at, std::uint32_t host,
                        std::map<std::vector<std::uint16_t>, std::uint16_t>& known);

  const topologies::Topology& topology_;
  const RoutingTable& network_;
  std::vector<Sparse> sparse_;
  std::vector<std::uint16_t> port_of_;  // by channel
  // Hosts that are one destination but for the last link, and a code for their ports by switch, class and
  // layer. Empty: they would take too much, or links are down.
  std::vector<std::uint32_t> class_of_;
  std::size_t classes_ = 0;
  std::vector<std::uint16_t> codes_;
  std::vector<std::uint32_t> numbers_;    // 0, 1, 2 … up to the last port
  std::vector<std::uint32_t> home_port_;  // by host, of the switch that it is cabled to; kNone: of several
  std::vector<std::uint32_t> first_set_;  // by switch
  std::vector<PortSet> sets_;
  std::vector<std::uint16_t> pool_;
};

// Each layer is a state, and takes an equal share; where it doesn't lead to the destination, packets go on in
// layer 0 for good.
class LayeredPaths final : public PathModel {
 public:
  LayeredPaths(const PlanSetup& setup, std::uint32_t count, double share) : layers_(setup, count, share) {}
  void starts(std::uint32_t source, std::uint32_t destination, std::vector<PathStart>& starts) const override;
  void steps(topologies::Vertex at, PathState state, std::uint32_t host,
             std::vector<PathStep>& steps) const override;
  std::uint32_t states() const override { return layers_.count(); }
  bool tells_hosts_apart() const override { return false; }

 private:
  const Layers layers_;
};

}  // namespace weft::routing
