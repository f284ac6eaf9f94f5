// One way for each pair of a switch and a destination, and the virtual channel that packets keep on it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/routing/parts/destinations.h"
#include "sim/routing/routing.h"

namespace weft::routing {

// Where a packet goes next depends on its destination only, so the ways to one are a tree; its virtual
// channel on the switch where it began. Four bytes for each pair, which is estimated first.
class PairRoutes {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  // As many as a path model has states for.
  static constexpr std::uint32_t kMostLayers = PathModel::kMostStates - 1;

  // Shortest ways, one after the other, each where the ways before put the least load on links, if all hosts
  // send each other the same (after T. Hoefler, T. Schneider, A. Lumsdaine, Optimized routing for large-scale
  // InfiniBand networks, HOTI 2009, where loads are counted after each destination). All in channel 0.
  PairRoutes(const topologies::Topology& topology, const std::vector<bool>& down_links);

  const topologies::Topology& topology() const { return topology_; }
  const Destinations& destinations() const { return destinations_; }
  const std::vector<bool>& down_links() const { return down_links_; }
  // The port of a switch, among all of its ports; kNone: it is one of the destination's, or there is no way.
  std::uint32_t port(std::uint32_t s, std::uint32_t destination) const {
    const std::uint16_t port = way_[place(s, destination)].port;
    return port == kNoPort ? kNone : port;
  }
  // Its channel; kNone.
  std::uint32_t next(std::uint32_t s, std::uint32_t destination) const {
    const std::uint32_t port = this->port(s, destination);
    return port == kNone ? kNone : topology_.out_channels(topology_.switch_at(s))[port];
  }
  std::uint32_t end(std::uint32_t channel) const {
    return topology_.node(topology_.channels()[channel].to).index;
  }
  std::uint8_t layer(std::uint32_t s, std::uint32_t destination) const {
    return way_[place(s, destination)].layer;
  }
  void set_layer(std::uint32_t s, std::uint32_t destination, std::uint32_t layer) {
    way_[place(s, destination)].layer = static_cast<std::uint8_t>(layer);
    layers_ = layer >= layers_ ? layer + 1 : layers_;
  }
  // Other ways than the shortest; a port of kNone: none. What is asked in between follows from both.
  void set_port(std::uint32_t s, std::uint32_t destination, std::uint32_t port) {
    way_[place(s, destination)].port = port == kNone ? kNoPort : static_cast<std::uint16_t>(port);
  }
  // How many virtual channels are in use.
  std::uint32_t layers() const { return layers_; }
  // The switches that have a way to a destination, such that every one comes behind the next on its way; the
  // destination's own are left out.
  void order(std::uint32_t destination, std::vector<std::uint32_t>& switches) const;

 private:
  static constexpr std::uint16_t kNoPort = UINT16_MAX;
  struct Way {
    std::uint16_t port = kNoPort;
    std::uint8_t layer = 0;
  };
  class Trees;
  std::size_t place(std::uint32_t s, std::uint32_t destination) const {
    return std::size_t{s} * destinations_.size() + destination;
  }

  const topologies::Topology& topology_;
  const std::vector<bool> down_links_;
  const Destinations destinations_;
  std::vector<Way> way_;  // by switch and destination
  std::uint32_t layers_ = 1;
};

// Who deals ways out to virtual channels, for messages and for work: false: it takes more than kMostLayers.
// `vcs`: as many as there may be.
struct Dealer {
  const char* policy;
  bool (*deal)(PairRoutes& routes, std::uint32_t vcs);
};

// What policies that send packets over PairRoutes are made of. Ways are dealt out anew when routes are worked
// out anew. The parameter `vcs` says how many channels there may be; networks that need more, or have more
// pairs than can be dealt out in time, are refused. A packet whose next link is down is lost.
std::unique_ptr<SwitchPlan> pair_plan(const PlanSetup& setup, const Dealer& dealer);
std::unique_ptr<PathModel> pair_paths(const PlanSetup& setup, const Dealer& dealer);
// The rest of such a policy.
Policy with_pair_routes(ModuleInfo info);

// All of it.
template <const Dealer& kDealer>
Policy over_pair_routes(ModuleInfo info) {
  Policy policy = with_pair_routes(std::move(info));
  policy.make_plan = [](const PlanSetup& setup) { return pair_plan(setup, kDealer); };
  policy.make_paths = [](const PlanSetup& setup) { return pair_paths(setup, kDealer); };
  return policy;
}

}  // namespace weft::routing
