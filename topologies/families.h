// The topology families that are built in.
#pragma once

#include <span>

#include "topologies/graph/topology.h"

namespace weft::topologies {

std::span<const Family> families();

// Builds the network a user chose. Throws InputError for an unknown name (with the nearest) and for
// parameters that no such network can have (with the nearest that one can).
Topology build(const ModuleChoice& choice);

}  // namespace weft::topologies
