// The network models that are built in.
#pragma once

#include <span>

#include "sim/run/network_model.h"

namespace weft::sim {

// The first that has no fabric is the default where no topology is given, the first that has one where one
// is.
std::span<const NetworkModel> network_models();

}  // namespace weft::sim
