#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Each packet takes the shortest path whose next port has the least backlog here and now, by lot among
// equals. ACKs follow the built-in rule.
Policy minimal_adaptive();

}  // namespace weft::routing
