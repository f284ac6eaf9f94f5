#pragma once

#include "sim/packet/queues/queues.h"

namespace weft::sim::packet {

// Drop-tail queues that mark as `ecn` does, but when a packet leaves, by what it leaves behind, as switches
// do: the mark is as old as the packet's way to the receiver, and not by its wait in the queue older.
// Sources: S. Floyd, V. Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM ToN
// 1(4), 1993; H. Wu et al., "Tuning ECN for data center networks", CoNEXT 2012 (marking at dequeue).
Discipline red();

}  // namespace weft::sim::packet
