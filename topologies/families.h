// The list of topology families.
#pragma once

#include <span>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// Those built in, and behind them those of plug-ins.
std::span<const Family> families();
// See ModuleList::add().
void add_family(Family family);

// The choice with what a family needs for at least the parameter `endpoints`, if that was given, in its
// place. Throws InputError for a family without sizes, and if a parameter was given that follows from
// `endpoints`.
ModuleChoice sized(const ModuleChoice& choice);

// The network of a family with these parameters. Throws InputError also where a plug-in's family fails, or
// forgot to call Topology::finish().
Topology build(const Family& family, const Parameters& parameters);
// Builds the network a user chose; `endpoints` may stand for its sizes. Throws InputError for an unknown name
// (with the nearest) and for parameters that no such network can have (with the nearest that one can).
Topology build(const ModuleChoice& choice);

}  // namespace weft::topologies
