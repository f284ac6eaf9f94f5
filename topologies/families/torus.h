#pragma once

#include "topologies/graph/topology.h"

namespace weft::topologies {

// The torus of any number of dimensions: routers at the points of a grid, each linked to its two neighbours
// in every dimension, around the edges too. A dimension of size 2 has one link between its two routers, not
// two. Diameter: the sum of ⌊size/2⌋. Numbering: lattice.h.
Family torus();

}  // namespace weft::topologies
