#pragma once

#include "topologies/graph/topology.h"

namespace weft::topologies {

// The binary hypercube: 2^n routers, linked where their numbers differ in one bit. Diameter n. Numbering:
// lattice.h, dimension 0 being the highest bit.
Family hypercube();

}  // namespace weft::topologies
