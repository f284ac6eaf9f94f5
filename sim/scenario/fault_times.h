// Rules for the times of a fault.
#pragma once

#include "sim/units/module.h"

namespace weft::sim {

// Throws InputError, at the parameter's place, for times that make no sense. REQUIRES: parameters of
// fault_section().
void check_fault_times(const Parameters& fault);

}  // namespace weft::sim
