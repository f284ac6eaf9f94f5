// Many to one and one to many.
#pragma once

#include "goal/workload/workload.h"

namespace weft::goal {

Workload incast_workload();
Workload outcast_workload();

}  // namespace weft::goal
