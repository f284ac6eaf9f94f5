#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// ECMP with odds in proportion to what the paths behind each next port can carry (weights.h). Each flow keeps
// its path as long as weights stay. These follow the rates that links were built with, and once routes are
// worked out anew the rates that they have then, of those that are up.
Policy wcmp();

}  // namespace weft::routing
