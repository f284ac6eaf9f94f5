// Where messages go, by the same rules and draws as in the packet network, and how much each link has
// carried.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/flow/detours.h"
#include "sim/flow/division.h"
#include "sim/flow/max_min.h"
#include "sim/flow/spread.h"
#include "sim/routing/routing.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::sim::flow {

// What decides the path of a message between two different hosts.
struct Trip {
  std::uint32_t source = 0, destination = 0;  // hosts
  std::uint32_t entropy = 0;
  std::uint8_t first_nic = 0, nics = 1;  // it divides evenly over so many NICs of the source
};

// Where that leads.
struct Way {
  std::vector<Use> uses;            // of resources, each once
  std::vector<std::uint32_t> hops;  // the channels of one of its paths, in order
  bool open = false;  // false: there is no way, or part of the flow has none; then there are no uses
};

// What else a policy says of itself: the fields of routing::Policy with these names.
struct PathRules {
  bool one_salt = false, all_nics = false;
  routing::RateNews rate_news = routing::RateNews::kNever;
};

// What may be a bottleneck is a resource: every channel where flows keep to one path or divide by a path
// model; where they divide evenly, each host's links and each group of channels that are loaded alike
// (Spread).
class Paths {
 public:
  // `kind`: any but kUnknown and kAround; kModel and kBalanced need `make`, kOne takes one of its ways.
  // Topology and table must outlive it. Throws InputError for links too fast to count.
  Paths(const topologies::Topology& topology, const routing::RoutingTable& table, routing::FluidPaths kind,
        std::uint64_t seed, PathMaker make = {}, PathRules rules = {});

  // The link carries this share of the rate it was built with, from 0 (down) on. Then, or with a new table,
  // refresh(): ways and resources are others from then on.
  void set_share(std::uint32_t link, double share, std::uint8_t directions = 3);
  void set_table(const routing::RoutingTable& table) { table_ = &table; }
  // Routes are worked out anew: policies that hear of rates with them do so now.
  void tell_rates() { told_shares_ = shares_; }
  void refresh();

  std::span<const Rate> resources() const { return resources_; }  // their capacities
  Rate capacity(std::uint32_t channel) const { return capacity_[channel]; }
  bool is_up(std::uint32_t channel) const { return capacity_[channel] > 0; }
  void find(const Trip& trip, Way& way);
  // Into the cache, what find() needs to divide it: where it is, then itself. REQUIRES: detours().
  void fetch_place(const Trip& trip) const { division_->fetch_place(trip.source, trip.destination); }
  void fetch(const Trip& trip) const { division_->fetch(trip.source, trip.destination); }
  // What it would be if nobody else sent.
  void find_alone(const Trip& trip, Way& way);
  // What links carry is counted by job, for so many jobs. Before anything is carried.
  void divide_by_job(std::uint32_t jobs) { loads_.resize(jobs, loads_.front()); }
  // So many bytes of a trip have gone their way, which is open. `detoured`: the part of them that went by
  // detours, if there are any. `job`: below those counted; else 0.
  void carry(const Trip& trip, std::uint64_t bytes, double detoured = 0, std::uint32_t job = 0);
  // Null: shares of detours don't follow from the traffic. Else balance(), then adopt_balance(), which may
  // change resources too.
  Detours* detours() { return detours_.get(); }
  void adopt_balance() { detours_->adopt(resources_); }
  // What each channel has carried. What divides is divided in whole bytes, so none are lost on the way.
  std::vector<std::uint64_t> carried() const;
  // By channel, and for each by job: their sums are carried().
  std::vector<std::uint64_t> carried_by_job() const;

 private:
  // Between the switch a NIC is cabled to and the last switches, where flows divide evenly.
  struct Middle {
    std::uint32_t source = 0, unit = 0;
    std::uint32_t uses = 0, hops = 0, arrivals = 0;  // begin in the pools
    std::uint32_t use_count = 0, hop_count = 0, arrival_count = 0;
    bool open = false;
  };
  // What one job has put on the links; all of them, where jobs aren't told apart.
  struct Load {
    std::vector<std::uint64_t> bytes;    // by channel, less what is in the others
    std::vector<std::uint64_t> middles;  // by middle: since the last refresh()
    std::vector<double> divided;         // by channel, of kModel and kBalanced
    Detours::Carried detoured;           // of detours_
  };
  struct Arrival {
    std::uint32_t vertex = 0;
    double share = 0;
  };

  // The next channel by the path model, of those that are up; kNone: there is none.
  std::uint32_t next_by_model(std::uint32_t at, const Trip& trip) const;
  // One path, from a channel on. False: there is none.
  bool walk(std::uint32_t channel, const Trip& trip, std::vector<std::uint32_t>& hops) const;
  void find_one(const Trip& trip, Way& way);
  void find_even(const Trip& trip, Way& way);
  bool divides() const { return division_ != nullptr; }
  std::unique_ptr<routing::PathModel> make_model() const;
  void make_division();
  void add_detours(const Trip& trip, double share, Way& way) const;
  void find_divided(const Trip& trip, Way& way);
  static void use(Way& way, const Trip& trip, std::uint32_t resource, double share);
  Middle& middle(std::uint32_t source, std::uint32_t unit);
  void carry_even(const Trip& trip, std::uint32_t at, std::uint64_t bytes, Load& load);
  void carry_divided(const Trip& trip, std::uint32_t at, double bytes, double detoured, Load& load);
  void expand(const Load& load, std::vector<std::uint64_t>& bytes) const;
  std::vector<std::uint64_t> carried_of(const Load& load) const;
  void settle();
  // Calls visit(NIC's channel, its share of the trip, its bytes) for each NIC of the trip.
  template <typename Visit>
  void each_nic(const Trip& trip, std::uint64_t bytes, Visit&& visit);
  void find_nics(const Trip& trip);

  const topologies::Topology& topology_;
  const routing::RoutingTable* table_;
  const routing::FluidPaths kind_;
  const PathRules rules_;
  std::vector<std::uint64_t> salts_;          // by vertex
  std::vector<Rate> capacity_;                // by channel
  std::vector<double> shares_, told_shares_;  // by channel: of the rates they were built with; as last told
  std::vector<Rate> resources_;
  std::vector<std::uint32_t> resource_of_;  // by channel; kNone: it is never a bottleneck
  std::vector<Load> loads_;                 // by job
  std::vector<std::uint32_t> scratch_;
  std::vector<Division::Part> nics_;  // of the trip at hand
  // kOne follows this model where its paths aren't the network's shortest.
  std::unique_ptr<routing::PathModel> model_;
  // kModel and kBalanced divide by models that this makes; it makes model_, too.
  const PathMaker make_;
  std::unique_ptr<Division> division_;
  std::vector<Division::Part> parts_;
  std::unique_ptr<Detours> detours_;  // of kBalanced
  // These are for kEven only.
  bool only_hosts_bind_ = false;  // no channel between switches is a resource, and none is down
  std::unique_ptr<Spread> spread_;
  std::unordered_map<std::uint64_t, std::uint32_t> middle_of_;  // by source switch and unit
  std::vector<Middle> middles_;
  std::vector<std::uint32_t> used_by_;  // by resource: how many middles there were when one last used it
  std::vector<Use> use_pool_;
  std::vector<std::uint32_t> hop_pool_;
  std::vector<Arrival> arrival_pool_;
};

}  // namespace weft::sim::flow
