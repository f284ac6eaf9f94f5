// Networks whose servers forward the messages of others.
#pragma once

#include <vector>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// BCube(n, k): n^(k+1) servers with k + 1 ports each, and k + 1 levels of n^k switches with n ports. Servers
// are numbered by their k + 1 digits in base n, digit 0 the lowest; switch s of level l joins the n servers
// that differ in digit l only and have the other digits of s. From server to server: two links for each
// digit that differs, so the diameter is 2(k + 1). Switches follow the servers' routers, by level, which is
// their tier above 1.
Family bcube();

// DCell(n, k): n servers on a switch are a DCell of level 0; t + 1 DCells of level l - 1, with t servers
// each, are one of level l, server j - 1 of the i-th linked to server i of the j-th for all i < j. Servers
// have k + 1 ports. Diameter at most 2^(k+1) - 1, a switch not counted as a hop. Servers are numbered by
// DCell; switches follow the servers' routers.
Family dcell();

// All of the above, in the order of `weft list topology`.
std::vector<Family> server_families();

}  // namespace weft::topologies
