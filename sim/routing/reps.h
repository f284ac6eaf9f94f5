#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Recycled entropies: the entropy of an ACK without a mark is kept, in a buffer of 8, and the next packet
// takes the oldest one kept; when there is none, one of `paths` at random. Lost packets' entropies are just
// not kept. The mode of the paper in which the buffer is frozen after a timeout is left out: selectors have
// no clock to end it by.
Policy reps();

}  // namespace weft::routing
