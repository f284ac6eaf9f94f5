// Flows that divide as a policy's path model says.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/flow/max_min.h"
#include "sim/routing/path_model.h"
#include "sim/routing/paths/detour_areas.h"
#include "sim/routing/paths/host_groups.h"
#include "sim/routing/paths/pair_table.h"
#include "sim/routing/paths/path_graph.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::sim::flow {

// For the table of minimal next channels at hand, and the shares of links' rates as PlanSetup has them.
using PathMaker = std::function<std::unique_ptr<routing::PathModel>(const routing::RoutingTable&,
                                                                    std::span<const double> rate_shares)>;

// At a switch with links that are down, the shares of the others grow in proportion. Detours are known as the
// sum over all intermediate hosts: of a source once, of a destination once, and put together for a pair. That
// takes a double for each channel, for each group of hosts, twice; a flow with detours then has a share of
// most links of the network. Their second legs begin in the state behind that in which the first began.
class Division {
 public:
  // All must outlive it. `capacity`: of every channel; 0: it is down.
  Division(const topologies::Topology& topology, const routing::RoutingTable& table,
           std::unique_ptr<const routing::PathModel> model, const std::vector<Rate>& capacity);

  struct Part {
    std::uint32_t channel = 0;
    double share = 0;
  };
  // What comes from a NIC of `source` to switch `at`, on its way to another host: the parts of it that each
  // channel carries. `hops`: the likeliest way without detours. False: some of it has no way.
  bool divide(std::uint32_t source, std::uint32_t at, std::uint32_t destination, std::vector<Part>& parts,
              std::vector<std::uint32_t>& hops);
  // Holds what divide() finds. divided() keeps it from before where it was asked lately; it is valid until
  // the next call.
  struct Divided {
    bool open = false;
    std::span<const Part> parts;
    std::span<const std::uint32_t> hops;
  };
  Divided divided(std::uint32_t source, std::uint32_t at, std::uint32_t destination);
  // Into the cache, what divided() knows of them: where it is, then itself.
  void fetch_place(std::uint32_t source, std::uint32_t destination) const {
    kept_.fetch(routing::PairTable<Kept>::key(source, destination));
  }
  void fetch(std::uint32_t source, std::uint32_t destination) const {
    const Kept* const kept = kept_.find(routing::PairTable<Kept>::key(source, destination));
    if (kept == nullptr) return;
    __builtin_prefetch(kept_parts_.data() + kept->parts);
    __builtin_prefetch(kept_hops_.data() + kept->hops);
  }
  // The model names ways: the parts of each channel, NICs' too, follow from these alone.
  bool names_ways() const { return model_->names_ways(); }
  bool divide_named(std::uint32_t source, std::uint32_t destination, std::vector<Part>& parts,
                    std::vector<std::uint32_t>& hops);
  // PathModel::weight_of_entry().
  double weight_of_entry(std::uint32_t at, std::uint32_t destination) const {
    return model_->weight_of_entry(at, destination);
  }

 private:
  // What all first legs of a source, or all second legs to a destination, put on each channel.
  struct Legs {
    std::vector<double> load;                                // by channel
    std::vector<std::pair<std::uint32_t, double>> arrivals;  // second legs: what comes to the last switches
    bool open = true;
  };
  struct Ways {
    std::vector<double>& load;
    std::vector<std::pair<std::uint32_t, double>>* arrivals;  // null: the last cable is one of the channels
  };

  void add(std::uint32_t channel, double share);
  void take_parts(std::vector<Part>& parts);
  bool move(const Ways& ways, double scale);
  bool straight(std::uint32_t at, routing::PathState state, std::uint32_t destination, double share,
                std::vector<std::uint32_t>& hops);
  void follow(std::uint32_t at, routing::PathState state, std::vector<std::uint32_t>& hops) const;
  bool by_detour(std::uint32_t source, std::uint32_t at, std::uint32_t destination,
                 const routing::PathStart& start);
  // One leg to the hosts of a group, or from them, for a flow of `share`.
  bool first_leg(std::uint32_t at, routing::PathState state, std::uint32_t via, double share,
                 const Ways& ways);
  bool second_leg(std::uint32_t via, routing::PathState state, std::uint32_t destination, double share,
                  const Ways& ways);
  const Legs& first_legs(std::uint32_t group, std::uint32_t at, routing::PathState state, bool within);
  const Legs& second_legs(std::uint32_t group, routing::PathState state, bool within);
  void expect_legs();

  const topologies::Topology& topology_;
  const std::vector<Rate>& capacity_;
  std::unique_ptr<const routing::PathModel> model_;
  routing::HostGroups groups_;
  routing::DetourAreas areas_;
  routing::PathGraph graph_;
  // By group and switch, state, and whether they stay within an area.
  std::map<std::tuple<std::uint64_t, routing::PathState, bool>, Legs> first_, second_;
  bool expected_ = false;
  std::vector<double> load_;            // by channel; 0 between calls
  std::vector<std::uint32_t> touched_;  // channels that aren't
  std::vector<double> amount_;
  std::vector<routing::PathStart> starts_;
  std::vector<routing::NamedWay> ways_;
  // What divided() keeps, in the two after it.
  struct Kept {
    std::uint32_t at = 0;
    std::uint32_t parts = 0, hops = 0, part_count = 0, hop_count = 0;
    bool open = false;
  };
  routing::PairTable<Kept> kept_;  // by source and destination
  std::vector<Part> kept_parts_, found_parts_;
  std::vector<std::uint32_t> kept_hops_, found_hops_;
};

}  // namespace weft::sim::flow
