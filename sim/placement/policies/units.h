// What policies share that go by units of hosts: switches, groups, racks, planes, sites.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/placement/placement.h"
#include "topologies/graph/host_units.h"

namespace weft::placement {

// A parameter that names a kind of unit, "group" by default.
ParameterSpec unit_parameter(const std::string& name, const std::string& by_default, const std::string& help);
topologies::HostUnit read_unit(const Parameters& parameters, const std::string& name);
// Why such units tell nothing on this network; see Policy::refusal.
std::string unit_refusal(const Parameters& parameters, const std::string& name,
                         const topologies::Topology& topology);

// The free hosts of each unit that has some, ascending; units by first host.
using FreeUnits = std::vector<std::vector<std::uint32_t>>;
FreeUnits free_units(const Machine& machine, topologies::HostUnit unit);

// The units that a job of so many hosts fills, in their order: the one with the fewest free hosts that are
// enough; where none has enough, the one with the most, and so on with what is left. Ties: the first unit.
// REQUIRES: there are enough.
FreeUnits best_fit(FreeUnits units, std::uint32_t needed);
// Hosts in the order of their units, as many as needed. REQUIRES: there are enough.
std::vector<std::uint32_t> take(const FreeUnits& units, std::uint32_t needed);

}  // namespace weft::placement
