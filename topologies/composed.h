// Families whose networks are made of another network, which their parameter `of` names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/units/module.h"
#include "topologies/graph/topology.h"

namespace weft::topologies {

// `of`, then `own`, then the parameters of cabling, whose "auto" means: as `of` has it.
std::vector<ParameterSpec> with_inner_network(std::vector<ParameterSpec> own);
// The choice that `of` holds, a short form in brackets ("[slim_fly:q=5]") or without, and in it the
// parameters of cabling that are not "auto". Throws InputError if one of these is given in `of` too.
ModuleChoice read_inner_network(const Parameters& parameters);
// Reads the choices as read_inner_network() does, where `of` may hold several, with semicolons between them.
std::vector<ModuleChoice> read_inner_networks(const Parameters& parameters);

// The family that routing and fabrics of this network are chosen by where none is named: that between nodes
// of several accelerators, else its own. What can't be read counts as its own, since building it says why.
std::string routed_family(const ModuleChoice& choice);
// The networks that hosts are in: those of the sites of several datacenters, else this one. What can't be
// read counts as this one, since building it says why.
std::vector<ModuleChoice> host_networks(const ModuleChoice& choice);
// Whether routed_family() may be another than its own.
bool is_routed_as_inner(std::string_view family);

// All of them, in the order of `weft list topology`.
std::vector<Family> composed_families();

}  // namespace weft::topologies
