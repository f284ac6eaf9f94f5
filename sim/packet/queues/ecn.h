// Drop-tail with ECN marking between two thresholds of the instantaneous queue, as RDMA switches are set up.
#pragma once

#include "sim/packet/queues/queues.h"

namespace weft::sim::packet {

// Sources: S. Floyd, V. Jacobson, "Random early detection gateways", IEEE/ACM ToN 1(4), 1993 (the ramp);
// RFC 3168 (marking instead of dropping); RFC 8257 §3.1 and Zhu et al., "Congestion control for large-scale
// RDMA deployments", SIGCOMM 2015 (instantaneous queue, Kmin, Kmax, Pmax).
Discipline ecn();

}  // namespace weft::sim::packet
