// How much traffic each link would carry if a policy divided it as its path model says: before, and without,
// any simulation.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/routing/path_model.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/analysis/demands.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

struct LinkLoad {
  std::vector<double> bps;  // by channel
  // These are parts of all traffic: what goes by an intermediate host's switch, and what has no way.
  double detoured = 0, stranded = 0;

  // In units of each channel's rate, over those between switches:
  double most = 0, mean = 0;
  std::uint32_t busiest = 0;                                     // a channel with `most`
  double saturation() const { return most > 1 ? 1 / most : 1; }  // the share of the traffic that fits
};

// A host with several NICs uses all evenly that lie on minimal paths. Hosts that the model treats alike are
// followed as one. Detours are followed in aggregate, leg by leg: what has come to an intermediate host's
// switches goes on from there in the same proportions to all destinations, which is exact where hosts have
// one switch and one state on arrival.
// Time: the model is asked for each switch and destination (with detours three times), and for each pair of
// sources and destinations.
LinkLoad link_load(const topologies::Topology& topology, const RoutingTable& table, const PathModel& model,
                   const topologies::HostTraffic& traffic);

// Gives the load under a policy that weighs detours against direct ways by load (FluidPaths::kBalanced), with
// the shares that it comes to under this traffic (DetourBalance).
LinkLoad balanced_load(const topologies::Topology& topology, const RoutingTable& table,
                       std::unique_ptr<PathModel> model, const topologies::HostTraffic& traffic);

}  // namespace weft::routing
