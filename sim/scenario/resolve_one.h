// The rules by which the settings of one job and of the run fit together.
#pragma once

#include "sim/scenario/scenario.h"

namespace weft::sim {

// As resolve(), of a draft with one job at most, whose own hosts and collectives are empty. `places`:
// its placement is always chosen, as hosts are taken by other jobs or have failed.
Scenario resolve_one(const Draft& draft, const Registries& registries, bool places);

}  // namespace weft::sim
