// All-to-all: every rank sends to every other.
#pragma once

#include "goal/workload/workload.h"

namespace weft::goal {

Workload alltoall_workload();

}  // namespace weft::goal
