#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Tables that a user gives: what stands in a file (RouteFile), a line for a switch and a destination,
//   SWITCH DESTINATION NEXT[=WEIGHT] [NEXT[=WEIGHT] …]
// where a destination is a host or a switch, which stands for all of its hosts; a line for a host goes before
// one for its switch. Flows are divided among the next switches by weight, 1 if none is given, with parallel
// links to one in equal parts, and keep theirs. What the file doesn't say goes by shortest paths; for what
// share of pairs that is so the results say. Tables that lead packets in a circle are refused.
//
// A link that is down is left out; where no other is left in a line, its packets go by shortest paths.
Policy tables();

}  // namespace weft::routing
