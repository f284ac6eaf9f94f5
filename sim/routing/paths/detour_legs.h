// The ways of traffic by detours and without them, as legs over which amounts are moved on, and prices back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/routing/path_model.h"
#include "sim/routing/paths/host_groups.h"
#include "sim/routing/paths/path_graph.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// What goes over channels.
struct Carried {
  std::vector<double> on;  // by channel
  double lost = 0;         // what came where there is no way on
};

// A detour is two legs, the direct way is one. Each group has a leg that ends at its hosts and one that ends
// at its switches.
class DetourLegs {
 public:
  static constexpr double kNoWay = 1e200;  // what it costs to go where nothing goes on

  // Where the traffic of groups comes in: stops, evenly.
  struct Entries {
    std::vector<std::uint32_t> begin, stops;  // begin: by group
  };
  struct Step {
    std::uint32_t channel = 0, next = 0;  // next: a stop of the same leg, or kOut
    double share = 0;
  };
  // All ways to a host of a group, or to its switches.
  struct Leg {
    std::vector<std::uint32_t> begin;  // by stop, of its steps, which lead to later stops
    std::vector<Step> steps;
    std::vector<bool> cut_off;  // by stop: there is no way on
    Entries first, behind;      // of what comes from hosts, and from detours
  };

  // `model`, `capacity`: as of DetourBalance. Topology, groups and capacities must outlive it. Throws
  // NotEnoughMemory for networks that take more than there is.
  DetourLegs(const topologies::Topology& topology, const PathModel& model, const HostGroups& groups,
             const std::vector<double>& capacity);

  const Leg& to_hosts(std::uint32_t group) const { return to_hosts_[group]; }
  // To go on from there.
  const Leg& to_switches(std::uint32_t group) const { return to_switches_[group]; }
  std::size_t steps() const { return steps_; }  // of all legs
  // The channels that count: both ends are switches.
  std::span<const std::uint32_t> between() const { return between_; }

  // These follow the leg at hand: nothing is at its stops; an amount comes in; all moves on to the end, where
  // a model leads in a circle once round, and adds to what is carried.
  void begin(const Leg& leg) { value_.assign(leg.begin.size(), 0); }
  void put(const Entries& entries, std::uint32_t group, double amount) {
    const std::uint32_t begin = entries.begin[group], end = entries.begin[group + 1];
    for (std::uint32_t i = begin; i < end; ++i) value_[entries.stops[i]] += amount / (end - begin);
  }
  void carry(const Leg& leg, Carried& carried);
  // These price the leg at hand: the first finds what all costs that follows on a stop, the second gives that
  // for a group.
  void price(const Leg& leg, std::span<const double> prices);
  double price_from(const Entries& entries, std::uint32_t group) const {
    const std::uint32_t begin = entries.begin[group], end = entries.begin[group + 1];
    double sum = 0;
    for (std::uint32_t i = begin; i < end; ++i) sum += value_[entries.stops[i]] / (end - begin);
    return sum;
  }

 private:
  static constexpr std::uint32_t kOut = UINT32_MAX;

  void find_states(const PathModel& model);
  Leg make_leg(PathGraph& graph, std::uint32_t to, PathGraph::End end);

  const topologies::Topology& topology_;
  const HostGroups& groups_;
  const std::vector<double>& capacity_;
  PathState direct_state_ = 0, detour_state_ = 0, behind_state_ = 0;
  std::vector<std::uint32_t> between_;
  std::vector<Leg> to_hosts_, to_switches_;  // by group
  std::size_t steps_ = 0;
  std::vector<double> value_;  // by stop of the leg at hand: amount, or price
};

}  // namespace weft::routing
