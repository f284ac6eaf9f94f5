// The mode `classic`: finish times as LogGOPSim gives them.
#pragma once

#include "sim/loggops/compat.h"

namespace weft::sim {

// Replays the graph. Throws InputError for what LogGOPSim cannot express (collectives, communicators, cpu
// numbers above 254, fractional G) and for a message whose two sides disagree about rendezvous.
CompatResult run_classic(const goal::Graph& graph, const CompatParameters& parameters, RunControl& control,
                         bool record_flows = false);

}  // namespace weft::sim
