#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// First by a minimal way to the switch of a host drawn from all with equal odds, then by a minimal way to the
// destination, whatever the traffic: the network takes half of what uniform traffic could have, of any
// traffic. Anew for each packet, or once for each flow. `intermediate=group`: the first part ends in the
// drawn host's group, at whichever switch that is. ACKs follow the built-in rule.
//
// Virtual channels, with queue discipline credit:selection=routed: one for each part; enough where minimal
// ways are free of circles by themselves (trees, HyperX in dimension order). Else selection=by_hop.
Policy valiant();

}  // namespace weft::routing
