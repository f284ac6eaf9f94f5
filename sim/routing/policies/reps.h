#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Recycled entropies: the entropy of an ACK without a mark is kept, in a buffer of 8, and the next packet
// takes the oldest one kept; when there is none, one of `paths` at random. Lost packets' entropies are just
// not kept.
//
// A timeout is taken for a failed link, which random entropies would meet again and again: for the time
// `freeze` (10 ms as in the authors' code; 0: not at all) none are drawn, but those in the buffer taken in
// turn, used before or not, while ACKs go on putting newer ones in their places. Then the buffer is emptied,
// and the next 16 packets take entropies at random; a timeout meanwhile changes nothing. Beyond the paper: a
// timeout while frozen, with no ACK since the last one, ends the freeze, as nothing in the buffer works.
// (With windows of some packets all of it may be one path, which kept connections from sending for 10 ms.)
//
// The authors freeze only where queues trim, as timeouts mean congestion elsewhere, and time single packets.
// The loss recovery here finds most lost packets without a timeout: with `trigger=loss` they freeze too,
// which is the authors' rule where queues trim. It loses far fewer packets then, and serves senders that
// react to losses; eight paths are too few for windows that fill every link whatever happens.
Policy reps();

}  // namespace weft::routing
