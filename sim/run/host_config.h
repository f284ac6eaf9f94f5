// What hosts cost, from a scenario.
#pragma once

#include <string_view>

#include "sim/replay/replay.h"
#include "sim/scenario/scenario.h"

namespace weft::sim {

// Throws InputError for costs that make no sense, and for tables of collectives that can't be read.
HostConfig host_config(const Scenario& resolved);

// A cost in nanoseconds per byte. Throws InputError for one below 0 or above a millisecond, which is slower
// than anything that carries messages.
double ns_per_byte(const Parameters& parameters, std::string_view name);

}  // namespace weft::sim
