// What networks of Fujitsu's Tofu-D share: rates, and the interfaces of a node.
#pragma once

#include <vector>

#include "sim/units/module.h"
#include "topologies/families/cabling.h"

namespace weft::topologies {

// `own` and the parameters of cabling, with Tofu-D's values.
std::vector<ParameterSpec> with_tofu_cabling(std::vector<ParameterSpec> own);
// Where the values are from, for `weft describe`.
const char* tofu_rates();
// A host is joined to its router by the links' worth of its six interfaces, unless `host_link` is given.
Cabling read_tofu_cabling(const Parameters& parameters);

}  // namespace weft::topologies
