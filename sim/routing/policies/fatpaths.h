#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// FatPaths' layered routing: `layers` of the network, of which the first has all links and each other one a
// random share `rho` of those between switches. Packets go by shortest ways in their layer, so that the
// layers together know of ways that are not minimal. A flow keeps its layer and its way within it while its
// packets follow each other closely; after a gap the NIC draws both anew (flowlets). A flow that is held up
// on its way makes more gaps, and so leaves the sooner: nothing else steers it.
//
// The way within a layer is that of the built-in rule: a hash at each switch. A layer that doesn't lead to
// the destination, or whose links there have failed, is left for the first one, for good. ACKs follow the
// built-in rule in the whole network.
//
// It leaves virtual channels to the queue: a layer's ways are minimal within it, so with
// credit:selection=by_hop as many as the longest way of any layer has links between switches exclude circles.
Policy fatpaths();

}  // namespace weft::routing
