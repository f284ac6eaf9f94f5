// The connections of an htsim connection-matrix file.
#pragma once

#include "goal/workload/workload.h"

namespace weft::goal {

Workload connections_workload();

}  // namespace weft::goal
