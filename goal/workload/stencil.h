// Halo exchange with the neighbours in a grid.
#pragma once

#include "goal/workload/workload.h"

namespace weft::goal {

Workload stencil_workload();

}  // namespace weft::goal
