#pragma once

#include "sim/packet/queues/queues.h"

namespace weft::sim::packet {

// One buffer per switch. A port's queue may grow while it is shorter than alpha times what is free: few busy
// ports get much each, and some room always stays free for those that become busy. With k ports that have
// more to send than they can, each gets alpha B / (1 + k alpha) of the shared B.
// Source: A. Choudhury, E. Hahne, "Dynamic queue length thresholds for shared-memory packet switches",
// IEEE/ACM Transactions on Networking 6(2), 1998.
Discipline shared();

}  // namespace weft::sim::packet
