// What hosts cost, from a scenario.
#pragma once

#include <string_view>

#include "sim/replay/replay.h"
#include "sim/scenario/scenario.h"

namespace weft::sim {

// Throws InputError for tables of collectives that can't be read.
HostConfig host_config(const Scenario& resolved);

}  // namespace weft::sim
