// Ways that lead up and then down: what up*/down* routing allows, on networks of any shape.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sim/routing/parts/destinations.h"
#include "sim/routing/switch_plan.h"

namespace weft::routing {

// All switches are put in an order, and a link leads up where it leads to an earlier one; a legal way never
// leads up again once it has led down. Links up wait for links up and down, and links down for links further
// down only, so nothing waits in a circle.
//
// The order is breadth first from a root, for each part of the network that is linked; where switches have
// tiers, the highest first, if every host can be reached that way: then all of the highest are roots.
class LegalWays {
 public:
  static constexpr std::uint32_t kNoWay = UINT32_MAX;

  // `root`: a switch by name or number, or "auto": by tiers, or the switch whose farthest one is nearest.
  // `down_links`: by link, those not to use; empty: none is down. Takes two bytes for each pair of a switch
  // and a destination (four where ways have more than 254 links), which is estimated first.
  LegalWays(const PlanSetup& setup, const std::string& root, const std::vector<bool>& down_links);

  const Destinations& destinations() const { return destinations_; }
  const std::vector<bool>& down_links() const { return down_links_; }
  bool leads_up(std::uint32_t channel) const { return leads_up_[channel]; }
  // Links to the nearest of the destination's switches over legal ways; kNoWay. `descending`: of a packet
  // that a link has led down.
  std::uint32_t distance(std::uint32_t s, bool descending, std::uint32_t destination) const;
  // Appends the channels from there on the shortest legal ways. REQUIRES: none of the destination's switches.
  void next(std::uint32_t s, bool descending, std::uint32_t destination,
            std::vector<std::uint32_t>& channels) const;

 private:
  // A link between switches, from where it is stored.
  struct Arc {
    std::uint32_t to = 0, channel = 0;
  };
  class Search;
  static constexpr std::uint32_t kAuto = UINT32_MAX;

  // Where each switch stands in the order.
  std::vector<std::uint32_t> by_tier() const;
  std::vector<std::uint32_t> by_root(std::uint32_t root) const;
  // By switch: links to the farthest switch.
  std::vector<std::uint32_t> eccentricities() const;
  void orient(const std::vector<std::uint32_t>& rank);
  void search();
  bool reaches_all() const;
  std::size_t place(std::uint32_t s, std::uint32_t destination) const {
    return std::size_t{destination} * arcs_.size() + s;
  }
  std::uint32_t read(const std::vector<std::uint8_t>& distances, std::size_t place) const;
  void write(std::vector<std::uint8_t>& distances, std::size_t place, std::uint32_t distance) const;

  const topologies::Topology& topology_;
  const std::vector<bool> down_links_;
  const Destinations destinations_;
  std::vector<std::vector<Arc>> arcs_;  // by switch
  std::vector<bool> leads_up_;          // by channel
  bool wide_ = false;                   // distances of two bytes
  std::vector<std::uint8_t> any_,
      down_;  // distances over all legal ways, and ways down; by destination, switch
};

}  // namespace weft::routing
