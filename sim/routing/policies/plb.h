#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Protective load balancing: a flow keeps its path until congestion lasts. A round trip is congested if at
// least `threshold` of its ACKs were marked. After `idle_rounds` of them in a row the flow takes another
// entropy as soon as nothing of it is under way, so that no packet overtakes another; after `rounds` at once.
// A timeout gives it another entropy, and then congestion none for a random time from `suspend` to twice
// that: the new path is to be tried, and not to be left for one with the same fault.
//
// Defaults are those of Linux (tcp_plb_*), but for `suspend`: 60 s there, longer than simulated runs, after
// which one timeout would end re-pathing for good. 1 ms is ten of the least timeouts of the packet network.
Policy plb();

}  // namespace weft::routing
