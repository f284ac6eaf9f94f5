#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Deadlock-free single-source shortest-path routing: for each pair of switches one shortest way, spread
// evenly over links (PairRoutes). All ways begin in virtual channel 0; as long as channels there wait for
// each other in a circle, the ways that make one of the circle wait for the next, the one with the fewest,
// move to channel 1; then the same there. Needs queue discipline credit:selection=routed. ACKs have ways of
// their own.
//
// Where a link is down the packets that would go there are lost, until routes are worked out anew: ways and
// channels too, so that packets of before and after may wait for each other for a while.
Policy dfsssp();

}  // namespace weft::routing
