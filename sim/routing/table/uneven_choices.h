// Whether links that a switch chooses among carry different rates.
#pragma once

#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// True where the next links of some switch towards some host were built with different rates, so that equal
// parts for all load some more than others. Takes a look at the links of every switch; only switches with
// links of several rates are asked for their ways to every class of hosts.
bool has_uneven_choices(const topologies::Topology& topology, const RoutingTable& table);

}  // namespace weft::routing
