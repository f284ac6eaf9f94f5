#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Source routes that a user gives: what stands in a file (RouteFile), a line for a way of a pair of hosts,
//   SOURCE DESTINATION SWITCH [SWITCH …][=WEIGHT]
// from the source's switch to the destination's over up to 15, none of them twice. Lines of one pair share
// its flows out by weight, 1 if none is given; with per=packet its packets. Pairs without a line go by
// shortest paths and the built-in rule, and so do ACKs; for what share of pairs that is so the results say.
// For hosts with one cable each.
//
// Where a link of its way is down a packet is lost; after a timeout a flow takes the next line of its pair.
Policy routes();

}  // namespace weft::routing
