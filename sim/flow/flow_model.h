// The entry of the flow network: `flow`.
#pragma once

#include "sim/run/network_model.h"

namespace weft::sim::flow {

NetworkModel flow_model();

}  // namespace weft::sim::flow
