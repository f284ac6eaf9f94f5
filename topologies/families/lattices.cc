#include "topologies/families/lattices.h"

namespace weft::topologies {

std::vector<Family> lattice_families() { return {torus(), mesh(), hypercube(), hyperx(), hammingmesh()}; }

}  // namespace weft::topologies
