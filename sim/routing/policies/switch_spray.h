#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Switches spray packets over the shortest paths, whatever their load: at random, in turn, or with odds
// in proportion to what the paths can carry (weights.h). In turn: each set of next ports has a turn of its
// own, in an order drawn anew for each round. ACKs follow the built-in rule.
Policy switch_spray();

}  // namespace weft::routing
