// From a list of jobs, as a batch system logs it, to the jobs of a scenario.
#pragma once

#include "sim/scenario/scenario.h"

namespace weft::sim {

// As resolve(), with the jobs that the draft's list tells in the place of the list; where it has none this is
// all. Each job is submitted at its time and has an estimate, both divided by the list's
// time_scale and in whole nanoseconds; its ranks; and a model that says what they do. Chooses a scheduler if
// none is. Jobs that no model fits, that would not fit the machine were they alone, or of which it isn't
// known how long to compute, are left out, and each kind is counted in a warning; so is what reading the list
// found. Builds the topology, to see what fits. Throws InputError for files that can't be read, and where no
// job is left.
Scenario resolve_with_list(const Draft& draft, const Registries& registries);

}  // namespace weft::sim
