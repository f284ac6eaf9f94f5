// From a resolved scenario and a graph to a report: builds the network that was chosen and replays the graph.
#pragma once

#include "goal/graph/graph.h"
#include "sim/core/engine.h"
#include "sim/results/report.h"
#include "sim/scenario/scenario.h"

namespace weft::sim {

// Every module that is built in, the default of each kind first.
Registries builtin_registries();

// Runs the scenario's one job. Everything but `wall_seconds`, `peak_memory_bytes` and `scenario` of the
// report is filled in, for a run that was stopped or could not go on too. Uses no state beyond its arguments:
// any number of simulations can run side by side. Throws InputError if scenario and graph don't fit together.
results::Report simulate(const Scenario& scenario, const goal::Graph& graph, RunControl& control);

}  // namespace weft::sim
