#pragma once

#include "topologies/graph/topology.h"

namespace weft::topologies {

// The HyperX network (Hamming graph) with single links: routers at the points of a grid, each linked to all
// that differ from it in one coordinate only. With equal sizes and as many hosts on a router it is the
// flattened butterfly. Diameter: the number of dimensions of size above 1. Numbering: lattice.h.
Family hyperx();

}  // namespace weft::topologies
