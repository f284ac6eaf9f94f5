// MP-RDMA's window: an ACK at a time.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: Y. Lu et al., "Multi-path transport for RDMA in datacenters", NSDI 2018, section 3.1. One window
// for all paths; which path a packet takes is the routing policy's business.
const Control& mprdma();

}  // namespace weft::congestion
