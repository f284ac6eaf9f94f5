// Wavefronts through a grid of ranks.
#pragma once

#include "goal/workload/workload.h"

namespace weft::goal {

Workload sweep_workload();

}  // namespace weft::goal
