#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Oblivious packet spraying: the NIC gives each packet of a flow another entropy, and switches hash it.
// Packets go in rounds of `paths`; every entropy of the flow is used once in a round, in an order drawn anew
// for each (the round's counter XOR a random mask).
Policy spray();

}  // namespace weft::routing
