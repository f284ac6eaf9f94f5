#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// DRILL(d, m): each packet looks at d ports drawn at random and at the m that were least loaded last time,
// and takes the least loaded of these. ACKs follow the built-in rule.
//
// A switch remembers m ports for each set of shortest next ports, as an engine of the paper does for each of
// its forwarding entries.
Policy drill();
// DRILL(choices, 0): the power of two choices.
Policy power_of_two();

}  // namespace weft::routing
