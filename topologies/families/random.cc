#include "topologies/families/random.h"

namespace weft::topologies {

std::vector<Family> random_families() { return {jellyfish(), xpander()}; }

}  // namespace weft::topologies
