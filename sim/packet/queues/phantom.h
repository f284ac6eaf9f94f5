// Marking by a virtual queue that fills before the real one does.
#pragma once

#include "sim/packet/queues/queues.h"

namespace weft::sim::packet {

// A counter per port takes in every packet that the queue takes in, and drains at a little less than the
// link's rate: it grows while the link is nearly busy, so senders slow down before packets wait. Data packets
// are marked by it, and by the real queue as with `ecn`.
// Sources: M. Alizadeh et al., "Less is more: trading a little bandwidth for ultra-low latency in the data
// center", NSDI 2012; T. Bonato et al., "Uno", SC 2025.
Discipline phantom();

}  // namespace weft::sim::packet
