#pragma once

#include "topologies/graph/topology.h"

namespace weft::topologies {

// The mesh of any number of dimensions: routers at the points of a grid, each linked to its neighbours in
// every dimension. Diameter: the sum of size - 1. Numbering: lattice.h.
Family mesh();

}  // namespace weft::topologies
