#pragma once

#include "sim/packet/queues/queues.h"

namespace weft::sim::packet {

// Two queues per port: ACKs and bare headers leave before data. Each is dropped from when it is full; data
// packets are marked as with `ecn`, by the bytes of data that wait.
Discipline priority();

}  // namespace weft::sim::packet
