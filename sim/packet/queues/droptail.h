// A FIFO queue that drops what does not fit.
#pragma once

#include "sim/packet/queues/queues.h"

namespace weft::sim::packet {

Discipline droptail();

}  // namespace weft::sim::packet
