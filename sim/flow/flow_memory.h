// What a run at flow level will take of memory, reckoned before it is taken.
#pragma once

#include "sim/routing/routing.h"
#include "sim/run/network_model.h"
#include "sim/run/run_memory.h"

namespace weft::sim::flow {

// SOLVER.md says what is counted and how well it fits.
MemoryForecast forecast_memory(const ModelRun& run, const routing::Policy& policy);

}  // namespace weft::sim::flow
