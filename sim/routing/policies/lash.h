#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Layered shortest-path routing: for each pair of switches one shortest way, spread evenly over links
// (PairRoutes), in the first virtual channel where it closes no circle of channels that wait for each other.
// Needs queue discipline credit:selection=routed. ACKs have ways of their own.
//
// Where a link is down the packets that would go there are lost, until routes are worked out anew: ways and
// channels too, so that packets of before and after may wait for each other for a while.
Policy lash();

}  // namespace weft::routing
