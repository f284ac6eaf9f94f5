// DCQCN: rates cut by the receiver's notifications, raised by a timer and a byte counter.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: Y. Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, sections 3
// and 5. The variant of NICs: defaults of ConnectX adapters (mlxconfig), whose steps Y. Li et al. (HPCC,
// SIGCOMM 2019) published with their simulator.
const Control& dcqcn();

}  // namespace weft::congestion
