#pragma once

#include "sim/packet/queues/queues.h"

namespace weft::sim::packet {

// Two queues per port, of data and of ACKs and headers. Where data does not fit, payloads are cut off instead
// of whole packets dropped: one time in two of the arriving packet, else of the newest that waits, whose
// place it takes. Headers go ahead, so that the receiver knows at once what is missing. With return to
// sender, a header that does not fit either goes back to where it came from. Source: M. Handley et al.,
// "Re-architecting datacenter networks and stacks for low latency and high performance" (NDP), SIGCOMM 2017,
// section 3.1; Ultra Ethernet Specification 1.0 (packet trimming).
Discipline composite();

}  // namespace weft::sim::packet
