// From what a file tells to a network.
#pragma once

#include <string>

#include "sim/units/module.h"
#include "topologies/import/imported_graph.h"

namespace weft::topologies {

// The network of `graph`, called `name`. `parameters` are those of graph_file: `hosts` and the cabling that
// stands in where the file says nothing. FORMATS.md tells how kinds, numbers, tiers and groups are found
// where the file has none. Throws InputError with file and line for what is no network, and for a parameter
// that has nothing to stand in for.
Topology build_network(ImportedGraph graph, const Parameters& parameters, const std::string& name);

}  // namespace weft::topologies
