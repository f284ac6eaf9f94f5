#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Recycled entropies: the entropy of an ACK without a mark is kept, in a buffer of 8, and the next packet
// takes the oldest one kept; when there is none, one of `paths` at random. Lost packets' entropies are just
// not kept.
//
// A timeout is taken for a failed link, of which random entropies would find ever more packets' ways: for the
// time `freeze` (10 ms as in the authors' code; 0: not at all) they are drawn no more, but those in the
// buffer taken in turn, used before or not, while ACKs go on putting newer ones in their places. Then the
// buffer is emptied, and the next 16 packets take entropies at random; a timeout meanwhile changes nothing.
// The authors freeze only where queues trim, as timeouts mean congestion elsewhere; here it is the user who
// knows.
Policy reps();

}  // namespace weft::routing
