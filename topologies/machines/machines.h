// Presets of real machines.
#pragma once

#include <vector>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// Leonardo (CINECA): all of it, and its partitions.
Family leonardo();
Family leonardo_booster();
Family leonardo_dcgp();
// HPE Slingshot: LUMI's partitions (CSC), Alps' GH200 nodes (CSCS), Frontier (OLCF).
Family lumi_c();
Family lumi_g();
Family alps();
Family frontier();
// MareNostrum 5's partitions (BSC).
Family marenostrum5_gpp();
Family marenostrum5_acc();
// JUPITER's Booster (JSC).
Family jupiter();
// Fugaku (RIKEN).
Family fugaku();

// All of the above, in the order of `weft list topology`.
std::vector<Family> machine_families();

}  // namespace weft::topologies
