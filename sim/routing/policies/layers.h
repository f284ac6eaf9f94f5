// Layers of a network: shares of its links, drawn at random, in each of which ways are as short as can be.
#pragma once

#include <cstdint>
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
  // Is the link one of the layer's, as drawn?
  bool has_link(std::uint32_t layer, std::uint32_t link) const {
    return layer == 0 || !sparse_[layer - 1].without[link];
  }

 private:
  struct Sparse {
    std::vector<bool> without;  // by link
    RoutingTable table;
  };

  const topologies::Topology& topology_;
  const RoutingTable& network_;
  std::vector<Sparse> sparse_;
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
