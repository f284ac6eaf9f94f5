// A user's own network, read from a file, as a family.
#pragma once

#include "topologies/graph/topology.h"

namespace weft::topologies {

// graph_file:file=PATH. The numbers of nodes are those of the file: nodes of each kind in the order it has
// them, or by the numbers in their names; channels in the order of its links.
Family graph_file_family();

}  // namespace weft::topologies
