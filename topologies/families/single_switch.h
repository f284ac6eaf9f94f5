#pragma once

#include "topologies/graph/topology.h"

namespace weft::topologies {

// All hosts on one switch: nothing but the hosts' own links can be contended.
Family single_switch();

}  // namespace weft::topologies
