// What all families share: the parameters of links, and reading sizes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/units/module.h"
#include "topologies/graph/topology.h"

namespace weft::topologies {

// The links of a network: towards hosts, and between switches.
struct Cabling {
  Link host;
  Link fabric;
  Time switch_latency;
};

// `own` followed by `link`, `host_link`, `latency` and `switch_latency`.
std::vector<ParameterSpec> with_cabling(std::vector<ParameterSpec> own);
// Throws InputError for a rate below kLeastRate.
Cabling read_cabling(const Parameters& parameters);

// An integer parameter as a count. Throws InputError if it is not from 1 to `most`.
std::uint32_t count_parameter(const Parameters& parameters, std::string_view name, std::uint32_t most);

// A network may have this many hosts or fewer: 4 Mi, far above what the tables of a run can hold.
inline constexpr std::uint64_t kMostHosts = std::uint64_t{1} << 22;

}  // namespace weft::topologies
