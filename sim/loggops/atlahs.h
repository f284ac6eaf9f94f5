// The mode `atlahs`: finish times as the LogGOPS backend of ATLAHS gives them.
#pragma once

#include "sim/loggops/compat.h"

namespace weft::sim {

// Replays the graph. Throws InputError for what ATLAHS cannot express (collectives, communicators, cpu
// numbers above 254) and for a message whose two sides disagree about rendezvous.
CompatResult run_atlahs(const goal::Graph& graph, const CompatParameters& parameters, RunControl& control,
                        bool record_flows = false);

}  // namespace weft::sim
