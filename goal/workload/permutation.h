// Permutation traffic: every rank sends to one other rank and receives from one other rank.
#pragma once

#include "goal/workload/workload.h"

namespace weft::goal {

Workload permutation_workload();

}  // namespace weft::goal
