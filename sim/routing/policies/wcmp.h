#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// ECMP with odds in proportion to what the paths behind each next port can carry (weights.h). Each flow keeps
// its path. Weights follow the rates that links were built with and, once routes are worked out anew, the
// links that are down; a link that runs at a share of its rate keeps its weight.
Policy wcmp();

}  // namespace weft::routing
