// The table of families in topologies/FAMILIES.md, worked out from the families themselves.
#pragma once

#include <string>

namespace weft::topologies {

// Markdown: for each family its own parameters, then what it is with at least 1,000 and 16,000 endpoints
// (sizes chosen, endpoints, diameter in hops between routers with endpoints, price of the network per
// endpoint with the first built-in list), and its source. A dash stands where a family has no choice of
// sizes, no such network, or no price.
std::string family_table();

}  // namespace weft::topologies
