// Programs that send nothing.
#pragma once

#include "goal/workload/workload.h"

namespace weft::goal {

Workload compute_workload();

}  // namespace weft::goal
