// Collective operations, called again and again.
#pragma once

#include "goal/workload/workload.h"

namespace weft::goal {

// Each call is one operation of the graph; which messages it takes is decided while it is replayed.
Workload collective_workload();

}  // namespace weft::goal
