#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// First by a minimal way to the switch of a host drawn from all with equal odds, then by a minimal way to the
// destination, whatever the traffic: the network takes half of what uniform traffic could have, of any
// traffic. Anew for each packet, or once for each flow. `intermediate=group`: the first part ends in the
// drawn host's group, at whichever switch that is. ACKs follow the built-in rule.
//
// It leaves virtual channels to the queue: with credit:selection=by_hop as many as the longest way has links
// between switches, twice the diameter at most, exclude circles.
Policy valiant();

}  // namespace weft::routing
