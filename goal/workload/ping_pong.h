// Pairs of ranks that answer each other.
#pragma once

#include "goal/workload/workload.h"

namespace weft::goal {

Workload ping_pong_workload();

}  // namespace weft::goal
