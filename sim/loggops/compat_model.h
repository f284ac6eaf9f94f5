// The set-up of the two compatibility modes.
#pragma once

#include "sim/loggops/compat.h"
#include "sim/run/network_model.h"

namespace weft::sim {

// The parameters of loggops_module() for these modes. Throws InputError for what the two programs can't
// express: they count in whole nanoseconds.
CompatParameters compat_parameters(const Parameters& parameters);

// NetworkModel::run for `semantics` other than "weft".
void run_compat(const ModelRun& run, results::Report& report);

}  // namespace weft::sim
