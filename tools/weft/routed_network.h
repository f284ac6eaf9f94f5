// A network and a routing policy on it, for commands that work without a simulation.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

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
  // `routing`: NAME:key=value,…. Throws InputError, also where the policy isn't defined for the network.
  RoutedNetwork(topologies::Topology topology, const std::string& routing, std::uint64_t seed);

  const topologies::Topology& topology() const { return topology_; }
  const routing::RoutingTable& table() const { return *table_; }
  const routing::Policy& policy() const { return policy_; }
  const routing::PathModel& paths() const { return *paths_; }
  routing::PlanSetup setup() const { return {parameters_, topology_, *table_, seed_}; }
  std::string routing() const;  // in short form, with all parameters
  // What paths() leaves out, or else what the policy says of itself here, a sentence; "": nothing.
  std::string remark() const {
    return policy_.remark != nullptr ? policy_.remark(setup()) : routing::remark_on_paths(policy_);
  }
  // The same of load(), where shares follow from the traffic.
  std::string remark_on_load() const;
  routing::LinkLoad load(const topologies::HostTraffic& traffic) const;

 private:
  const topologies::Topology topology_;
  const Parameters parameters_;
  const routing::Policy policy_;  // with these
  const std::uint64_t seed_;
  std::unique_ptr<routing::RoutingTable> table_;
  std::unique_ptr<routing::PathModel> paths_;
};

// --topology, --endpoints, --routing, --seed.
class RoutedArguments {
 public:
  void add_to(Command& command);
  std::unique_ptr<RoutedNetwork> build() const;
  std::uint64_t seed() const { return seed_; }

 private:
  TopologyArgument topology_;
  std::string routing_ = default_routing();
  std::uint64_t seed_ = 1;

  static std::string default_routing();
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
