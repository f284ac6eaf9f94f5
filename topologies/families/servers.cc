#include "topologies/families/servers.h"

namespace weft::topologies {

std::vector<Family> server_families() { return {bcube(), dcell()}; }

}  // namespace weft::topologies
