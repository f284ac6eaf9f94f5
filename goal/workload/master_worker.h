// Tasks dealt out by one rank.
#pragma once

#include "goal/workload/workload.h"

namespace weft::goal {

Workload master_worker_workload();

}  // namespace weft::goal
