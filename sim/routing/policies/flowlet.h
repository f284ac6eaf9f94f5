#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Flowlet switching: a flow keeps its port at a switch while its packets follow each other closely; after a
// gap it may change. If the gap is longer than what paths differ by, no packet overtakes another; nothing
// sees to that, so the policy doesn't declare order.
Policy flowlet();

}  // namespace weft::routing
