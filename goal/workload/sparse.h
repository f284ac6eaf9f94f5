// An irregular exchange with few, fixed neighbours.
#pragma once

#include "goal/workload/workload.h"

namespace weft::goal {

Workload sparse_workload();

}  // namespace weft::goal
