// What networks of Fujitsu's Tofu-D share: rates, and the interfaces of a node.
#pragma once

#include <string>
#include <vector>

#include "sim/units/module.h"
#include "topologies/families/lattice.h"
#include "topologies/graph/topology.h"

namespace weft::topologies {

// `own`, `interfaces`, and the parameters of cabling, with Tofu-D's values.
std::vector<ParameterSpec> with_tofu_cabling(std::vector<ParameterSpec> own);
// Where the values are from, for `weft describe`.
const char* tofu_rates();
// The network with this lattice, and with those parameters.
Topology build_tofu(std::string name, Lattice lattice, const Parameters& parameters);

}  // namespace weft::topologies
