#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// FlowBender: a flow whose round trips were marked by more than `threshold`, `rounds` times in a row, takes
// another entropy, and so does one that timed out. Packets of before and after may overtake each other.
Policy flowbender();

}  // namespace weft::routing
