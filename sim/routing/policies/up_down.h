#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Up*/down* routing: the shortest of the ways that lead up and then down an order of the switches (LegalWays;
// `root`), which need no virtual channels and are there on every network; among equally short ones a hash of
// the flow's entropy decides at each switch, so each flow keeps one way. ACKs go such ways too.
//
// Where a link is down packets take what is left of these; where nothing is, they are lost, until routes are
// worked out anew: the order too, so that packets of before and after may wait for each other for a while. A
// packet that has been led down and has no way down any more is lost.
Policy up_down();

}  // namespace weft::routing
