#include "topologies/families/groups.h"

namespace weft::topologies {

std::vector<Family> group_families() { return {dragonfly(), megafly(), cascade()}; }

}  // namespace weft::topologies
