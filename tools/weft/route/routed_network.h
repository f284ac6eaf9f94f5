// A network and a routing policy on it, for commands that work without a simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/routing/nics/nic_choice.h"
#include "sim/routing/nics/nic_network.h"
#include "sim/routing/nics/rails.h"
#include "sim/routing/paths/link_load.h"
#include "sim/routing/routing.h"
#include "sim/routing/table/routing_table.h"
#include "tools/weft/cli/command.h"
#include "tools/weft/topo/topo_commands.h"
#include "topologies/analysis/demands.h"
#include "topologies/graph/topology.h"

namespace weft::cli {

// Does something that may last: told on standard error, and ended by signals (Phases). Where memory runs out
// the error names it.
void during(const std::string& what, const std::function<void()>& work);

class RoutedNetwork {
 public:
  struct Choice {
    std::string family;
    std::string fabric;   // name; "": none
    std::string routing;  // NAME:key=value,…; "": as simulations have it where none is chosen
    std::uint64_t seed = 1;
    bool balances = false;  // load() will be asked
    // Which of their NICs hosts take, where they have several; as simulations name it.
    std::string nic_choice = "library";
  };
  // Throws InputError, also where the policy isn't defined for the network.
  RoutedNetwork(topologies::Topology topology, const Choice& choice);

  const topologies::Topology& topology() const { return topology_; }
  const routing::RoutingTable& table() const { return *table_; }
  const routing::Policy& policy() const { return policy_; }
  const routing::PathModel& paths() const { return *paths_; }
  routing::PlanSetup setup() const { return {parameters_, topology_, *table_, seed_}; }
  // Returns setup() with a destination for each NIC of hosts that have several, as simulations route to them.
  // Channels keep their numbers.
  routing::PlanSetup setup_of_nics() const;
  std::string routing() const;  // in short form, with all parameters
  // Why, where it wasn't chosen: "recommended for torus"; else "".
  const std::string& routing_reason() const { return reason_; }
  // Both, for people.
  std::string routing_line() const { return routing() + (reason_.empty() ? "" : " (" + reason_ + ")"); }
  // What paths() leaves out, or else what the policy says of itself here, a sentence; "": nothing.
  std::string remark() const {
    const bool speaks_of_packets = policy_.fluid == routing::FluidPaths::kBalanced;
    return policy_.remark != nullptr && !speaks_of_packets ? policy_.remark(setup())
                                                           : routing::remark_on_paths(policy_);
  }
  // Adds to remark() what is to be said of NICs, where hosts have several.
  std::string remark_on_paths() const { return with_nics(remark(), rails_ != nullptr); }
  // Returns the remark on load() of this traffic, as shares of ways may follow from the traffic.
  std::string remark_on_load(const topologies::HostTraffic& traffic) const;
  routing::LinkLoad load(const topologies::HostTraffic& traffic) const;

  // Null where hosts have one NIC, or paths end at hosts, through any of their NICs.
  const routing::NicNetwork* rails() const { return rails_.get(); }
  // REQUIRES: rails() isn't null. Endpoints are those of rails().
  std::vector<routing::Rail> rails_between(std::uint32_t from, std::uint32_t to) const {
    return routing::rails_between(*rails_, nic_choice_, rail_use_, from, to);
  }
  const routing::PathModel& rail_paths() const { return *rail_paths_; }

 private:
  void find_rails(const std::string& nic_choice);
  bool follows_nics(const topologies::HostTraffic& traffic) const;
  std::string with_nics(std::string remark, bool follows) const;
  routing::PlanSetup setup_of_rails() const {
    return {parameters_, rails_->topology(), rails_->table(), seed_};
  }

  const topologies::Topology topology_;
  const std::uint64_t seed_;
  std::unique_ptr<routing::RoutingTable> table_;
  std::string reason_;
  Parameters parameters_;
  routing::Policy policy_;  // with these
  std::unique_ptr<routing::PathModel> paths_;
  std::unique_ptr<const routing::NicNetwork> nics_;  // null: hosts have one each, or messages take all
  routing::NicChoice nic_choice_ = routing::NicChoice::kLibrary;
  sim::RailUse rail_use_;
  std::unique_ptr<const routing::NicNetwork> rails_;
  std::unique_ptr<routing::PathModel> rail_paths_;  // on rails_
};

// --topology, --endpoints, --routing, --nic-choice, --seed.
class RoutedArguments {
 public:
  void add_to(Command& command);
  void add_nics_to(Command& command);
  // `balances`: for who asks for loads.
  std::unique_ptr<RoutedNetwork> build(bool balances) const;
  std::uint64_t seed() const { return seed_; }

 private:
  TopologyArgument topology_;
  std::string fabric_, routing_, nic_choice_ = "library";
  std::uint64_t seed_ = 1;
};

// --traffic and --matrix: who sends to whom.
class TrafficArguments {
 public:
  void add_to(Command& command);
  // Returns the traffic of this network's hosts, scaled so that the busiest is full. Throws InputError.
  topologies::HostTraffic build(const topologies::Topology& topology, std::uint64_t seed) const;

 private:
  std::string traffic_ = "uniform", matrix_;
};

}  // namespace weft::cli
