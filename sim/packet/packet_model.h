// The entry of the packet network: `packet`.
#pragma once

#include "sim/run/network_model.h"

namespace weft::sim::packet {

NetworkModel packet_model();

}  // namespace weft::sim::packet
