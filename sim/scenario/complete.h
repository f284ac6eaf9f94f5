// A module's choice with all of its parameters. Used here only.
#pragma once

#include "sim/units/module.h"

namespace weft::sim {

// Gives every parameter a checked value, as a scenario file gives it back. Throws InputError for one that
// makes no sense.
void complete(const ModuleInfo& info, ModuleChoice& choice);

}  // namespace weft::sim
