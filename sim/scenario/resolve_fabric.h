// What a fabric says, put where a scenario leaves it open.
#pragma once

#include "sim/scenario/scenario.h"

namespace weft::sim {

// Names the topology's fabric where none is named, and puts its settings where the scenario has none; what it
// has otherwise goes to Findings::fabric_changes. A recovery or queue of the fabric's that doesn't go with
// what was given is left open. REQUIRES: a network model is named. Throws InputError for an unknown fabric,
// and for one that can't act.
void fill_from_fabric(Scenario& scenario, const Registries& registries);

// Is the queue discipline that of the scenario's fabric?
bool has_queue_of_fabric(const Scenario& scenario, const Registries& registries);

}  // namespace weft::sim
