// Flows that divide between direct ways and detours as these are loaded (UGAL): the shares, and what detours
// leave of links.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/flow/division.h"
#include "sim/flow/max_min.h"
#include "sim/routing/paths/detour_balance.h"
#include "sim/routing/paths/host_groups.h"
#include "sim/routing/paths/pair_table.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::sim::flow {

// A flow by detours is on most links of the network, in small parts. To follow each would make every change
// of traffic cost as much as all flows times all links. So direct ways are followed link by link, and detours
// together: they share one resource, the pool, which has room for what the network's links let through of
// them. What they take of a link is taken off its capacity for direct ways. Both are as the last balance
// says.
class Detours {
 public:
  // All must outlive it. `capacity`: of every channel; 0: it is down.
  Detours(const topologies::Topology& topology, const routing::RoutingTable& table,
          std::unique_ptr<routing::PathModel> model, const std::vector<Rate>& capacity);

  // Tells which part of what a host sends to another goes by detours.
  double share(std::uint32_t source, std::uint32_t destination) const;
  // Whether what goes by detours is on a channel as what goes directly: inside machines of several
  // accelerators, where ways differ between outer switches only. Else the pool has it.
  bool keeps(std::uint32_t channel) const {
    const std::uint32_t end = topology_.channels()[channel].to;
    return groups_.leaves_out_machines() && (groups_.leaves_out(topology_.channels()[channel]) ||
                                             topology_.node(end).kind == topologies::NodeKind::kHost);
  }
  bool keeps_last_links() const { return groups_.leaves_out_machines(); }
  // As long as it is set, all shares are 0: in a network without other traffic.
  void suspend(bool suspended) { shares_.suspend(suspended); }

  struct Offer {
    std::uint32_t source = 0, destination = 0;  // hosts
    double rate = 0;                            // in the unit of Rate; 0: it keeps the share that it has
  };
  // Works out shares for what flows are there, whatever there was before. Returns which of them have others
  // as soon as adopt() is called; until then new pairs take the mean share.
  std::vector<bool> balance(std::span<const Offer> offers);
  // Nothing is offered: all shares are 0. Then adopt().
  void forget();
  // Sets capacities for direct ways, by channel, and last the pool's. Pairs that weren't offered have the
  // mean share from then on.
  void adopt(std::vector<Rate>& resources);
  // A flow uses the pool by this part of its share there, so that capacities don't get too large.
  double pool_unit() const { return 1.0 / topology_.hosts(); }
  Rate whole_pool() const;

  // Bytes that went by detours, by pair of groups: of one network's Detours.
  using Carried = routing::PairTable<double>;
  // So many of a pair's have gone.
  void carry(std::uint32_t source, std::uint32_t destination, double bytes, Carried& carried) const;
  // Adds what each channel between switches has had of them.
  void add_carried(const Carried& carried, std::vector<double>& bytes) const;

 private:
  using Pair = routing::DetourBalance::Pair;
  std::uint64_t pair_of(std::uint32_t source, std::uint32_t destination) const {
    return routing::PairTable<double>::key(groups_.of(source), groups_.of(destination));
  }
  std::vector<Pair> pairs_of(std::span<const Offer> offers);

  const topologies::Topology& topology_;
  const std::vector<Rate>& capacity_;
  const std::unique_ptr<routing::PathModel> model_;
  const routing::HostGroups groups_;
  const std::unique_ptr<routing::DetourBalance> balance_;
  routing::DetourShares shares_;
  std::vector<Pair> balanced_;
  // These are for the offers at hand.
  struct Sum {
    std::uint64_t ends = 0;
    std::uint32_t number = 0;
    unsigned __int128 offered = 0;
  };
  routing::PairTable<std::uint32_t> number_of_;  // in the order in which they come
  std::vector<Sum> sums_;
  std::vector<std::uint32_t> place_, pair_of_offer_;  // by number: in balanced_; by offer: the same
};

}  // namespace weft::sim::flow
