// Which routing a network has where none was chosen: of simulations, and of commands that tell of routes
// without one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/routing/table/routing_table.h"
#include "sim/units/module.h"
#include "topologies/graph/topology.h"

namespace weft::sim {

struct DefaultRouting {
  ModuleChoice policy;  // with all parameters
  std::string reason;   // "recommended for torus", or why what is recommended can't be had
  // Name of the policy with detours that was left out for the time it takes to balance them, or "".
  std::string detours_left_out = {};
};

// "recommended for torus"; for families of which nobody recommends anything: that.
std::string routing_reason(std::string_view family);

// What the fabric ("" or fabrics::kNone: none) says for the family, or else what is recommended for that
// (topologies/recommended_routing.h), whether or not this network of it can have that. Throws InputError for
// an unknown fabric.
DefaultRouting wanted_routing(std::string_view family, std::string_view fabric, bool has_packets = true);

// That, or what is recommended for the family, or the first policy of the list if this network of the family
// can't have it: where the policy isn't defined for it, where k shortest paths of all pairs would take long
// to find, and, if `balances`, where loads of detours would take minutes to balance.
DefaultRouting default_routing(std::string_view family, std::string_view fabric,
                               const topologies::Topology& topology, const routing::RoutingTable& table,
                               std::uint64_t seed, bool balances);

}  // namespace weft::sim
