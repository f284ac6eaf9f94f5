// The network that Slurm's configuration describes, as a family.
#pragma once

#include "topologies/graph/topology.h"

namespace weft::topologies {

// slurm:file=PATH. Hosts have Slurm's names and are numbered in their order (n2 before n10); switches come
// after those below them. What the file leaves open is a parameter, and said in Topology::notes().
Family slurm_family();

}  // namespace weft::topologies
