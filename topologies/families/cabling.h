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

// What a network has if its cabling isn't given. Families named after a product have that product's values.
struct CablingDefaults {
  const char* link = "400Gbps";
  const char* host_link = "auto";
  const char* latency = "500ns";
  const char* switch_latency = "0ns";
};

// `own` followed by `link`, `host_link`, `latency` and `switch_latency`.
std::vector<ParameterSpec> with_cabling(std::vector<ParameterSpec> own, const CablingDefaults& defaults = {});
// Throws InputError for a rate below kLeastRate.
Cabling read_cabling(const Parameters& parameters);

// A link's rate. Throws InputError if it is below kLeastRate.
Bandwidth rate_parameter(const Parameters& parameters, std::string_view name);

// An integer parameter as a count. Throws InputError if it is not from 1 to `most`.
std::uint32_t count_parameter(const Parameters& parameters, std::string_view name, std::uint32_t most);

// Returns the count that a parameter gives which may be "auto", and then means `automatic`. Throws InputError
// if another value is not from 1 to `most`.
std::uint32_t count_parameter(const Parameters& parameters, std::string_view name, std::uint32_t most,
                              std::uint32_t automatic);

// `count` hosts on a router or switch and in its group, numbered on from those there are ("host 7").
void add_hosts(Topology& topology, Vertex router, std::uint32_t count, const Link& link);

// As with_cabling(), for networks whose accelerators or servers forward messages of others. `host_link` then
// is what joins a host to the router inside it.
std::vector<ParameterSpec> with_forwarding_hosts(std::vector<ParameterSpec> own);
// That link: without latency, and as fast as the router's `ports` together unless `host_link` is given.
Link link_inside_host(const Parameters& parameters, const Cabling& cabling, std::uint32_t ports);

// A network may have this many hosts or fewer: 4 Mi, far above what the tables of a run can hold.
inline constexpr std::uint64_t kMostHosts = std::uint64_t{1} << 22;

}  // namespace weft::topologies
