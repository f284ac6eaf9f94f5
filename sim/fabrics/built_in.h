// The fabrics that are built in, in the order of the list.
#pragma once

#include <string>
#include <vector>

#include "sim/fabrics/fabric.h"

namespace weft::fabrics {

std::vector<Fabric> built_in_fabrics();

// Families by what fabrics tell apart.
const std::vector<std::string>& tree_families();
const std::vector<std::string>& dragonfly_families();
const std::vector<std::string>& grid_families();

}  // namespace weft::fabrics
