#pragma once

#include "sim/packet/queues/queues.h"

namespace weft::sim::packet {

// Priority flow control. A switch counts for each port and class the bytes that came through it and have not
// left to their last bit. Above `xoff` it tells the node at the other end of the cable to pause the class,
// at `xon` or below to go on. What is under way meanwhile fits into the headroom, so nothing is lost; a
// packet for which the headroom is too small is dropped. NICs obey pauses as switches do.
//
// Headroom of a port: what its cable brings between the moment that the count passes xoff and the last bit
// sent before the pause is obeyed,
//   H = rate · (2 · latency + pipeline) + 2 packets + max(3840 bit, one control frame):
// both ways on the cable and what is in the switch's pipeline; the packet that passed xoff and the one that
// the sender has just begun; and the time to process the pause.
Discipline pfc();

}  // namespace weft::sim::packet
