// The entry of the LogGOPS network: `loggops`, with the semantics of its own and of two other programs.
#pragma once

#include "sim/run/network_model.h"

namespace weft::sim {

NetworkModel loggops_model();

}  // namespace weft::sim
