#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Routing within a given number of virtual channels (`vcs`, 1 and more) on any network, after Nue:
// destinations are dealt out to the channels in turn; in each, the ways to one destination after the other
// are the shortest that can be had without a circle of dependencies with those before it, the ways of a
// spanning tree among these from the start. A destination that can't be reached so from everywhere is reached
// over the tree alone. (Nue goes back and tries others first.) Needs queue discipline
// credit:selection=routed. ACKs have ways of their own. Links that are down: as with dfsssp.
Policy nue();

}  // namespace weft::routing
