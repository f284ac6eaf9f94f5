#include "topologies/families/lattices.h"

namespace weft::topologies {

std::vector<Family> lattice_families() {
  return {torus(), mesh(),      hypercube(),  hyperx(), express_mesh(), flattened_butterfly(),
          tofu(),  tpu_torus(), hammingmesh()};
}

}  // namespace weft::topologies
