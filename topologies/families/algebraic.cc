#include "topologies/families/algebraic.h"

namespace weft::topologies {

std::vector<Family> algebraic_families() {
  return {slim_fly(), polarfly(),    polarstar(), bundlefly(), oft(),
          mlfm(),     spectralfly(), kautz(),     delorme(),   arrangement()};
}

}  // namespace weft::topologies
