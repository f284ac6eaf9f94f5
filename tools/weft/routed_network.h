// A network and a routing policy on it, for commands that work without a simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sim/routing/nics/nic_network.h"
#include "sim/routing/paths/link_load.h"
#include "sim/routing/routing.h"
#include "sim/routing/table/routing_table.h"
#include "tools/weft/command.h"
#include "tools/weft/topo_commands.h"
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
  };
  // Throws InputError, also where the policy isn't defined for the network.
  RoutedNetwork(topologies::Topology topology, const Choice& choice);

  const topologies::Topology& topology() const { return topology_; }
  const routing::RoutingTable& table() const { return *table_; }
  const routing::Policy& policy() const { return policy_; }
  const routing::PathModel& paths() const { return *paths_; }
  routing::PlanSetup setup() const { return {parameters_, topology_, *table_, seed_}; }
  // The same with a destination for each NIC of hosts that have several, as simulations route to them.
  // Channels have the same numbers.
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
  // For paths that end at hosts: with what is left out where these have several NICs.
  std::string remark_on_paths() const { return with_nics(remark()); }
  // The same of load(), where shares follow from the traffic.
  std::string remark_on_load() const;
  routing::LinkLoad load(const topologies::HostTraffic& traffic) const;

 private:
  std::string with_nics(std::string remark) const;

  const topologies::Topology topology_;
  const std::uint64_t seed_;
  std::unique_ptr<routing::RoutingTable> table_;
  std::string reason_;
  Parameters parameters_;
  routing::Policy policy_;  // with these
  std::unique_ptr<routing::PathModel> paths_;
  std::unique_ptr<const routing::NicNetwork> nics_;  // null: hosts have one each, or messages take all
};

// --topology, --endpoints, --routing, --seed.
class RoutedArguments {
 public:
  void add_to(Command& command);
  // `balances`: for who asks for loads.
  std::unique_ptr<RoutedNetwork> build(bool balances) const;
  std::uint64_t seed() const { return seed_; }

 private:
  TopologyArgument topology_;
  std::string fabric_, routing_;
  std::uint64_t seed_ = 1;
};

// --traffic and --matrix: who sends to whom.
class TrafficArguments {
 public:
  void add_to(Command& command);
  // Of the hosts of this network, scaled so that the busiest is full. Throws InputError.
  topologies::HostTraffic build(const topologies::Topology& topology, std::uint64_t seed) const;

 private:
  std::string traffic_ = "uniform", matrix_;
};

}  // namespace weft::cli
