#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Dynamic load balancing as switch ASICs do it: at each switch, flows go to the port of the best quality
// among those on shortest paths, by lot among equals. The quality of a port is a number of three bits made of
// two others, how loaded it has been lately and how much waits there, each in eight bands; it is looked at
// once per `sample`, and stays what it was in between. `mode`:
//
// - flowlet: a flow may change its port after a gap.
// - per_packet: each packet takes the best port.
// - fixed: a flow takes the best port when it is first seen, and keeps it.
//
// The switches' tables of flow sets hold a few thousand entries that flows share; here each flow has its own.
Policy dlb();

}  // namespace weft::routing
