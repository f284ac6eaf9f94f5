// The rules by which the settings of one job and of the run fit together.
#pragma once

#include "sim/scenario/scenario.h"

namespace weft::sim {

// As resolve(), of a scenario with one job at most, whose own hosts and collectives are empty. Beside others,
// its placement is always chosen.
Scenario resolve_one(const Scenario& scenario, const Registries& registries, bool beside_others);

}  // namespace weft::sim
