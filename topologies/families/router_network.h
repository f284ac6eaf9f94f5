// A network as a list of routers and of links between them, and the reading of parameters that only certain
// values fit: what the algebraic and the random families have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/units/module.h"
#include "topologies/families/cabling.h"
#include "topologies/families/sizing.h"
#include "topologies/graph/topology.h"

namespace weft::topologies {

// Pairs of routers, by number.
using RouterLinks = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct Router {
  std::string name;  // unique
  std::uint32_t group = 0;
  std::uint8_t tier = 1;  // routers of tier 1 have hosts, others have none
  std::uint32_t rack = kNoRack;
};

struct RouterNetwork {
  std::vector<Router> routers;
  RouterLinks links;
};

// `shape` (what sets the size), then `hosts` ("auto" for a balanced number, which `balanced` puts in words)
// and the parameters of cabling.
std::vector<ParameterSpec> with_router_hosts(std::vector<ParameterSpec> shape, std::string_view balanced);

// The network with the parameters of with_router_hosts(). Routers and links come in the order given; a
// router's channels lead to its hosts first, then along its links. Throws InputError if `hosts` is not 1 or
// more, or makes more than kMostHosts in all.
Topology build_routers(std::string_view family, const Parameters& parameters, const RouterNetwork& network,
                       std::uint32_t balanced_hosts);

// An integer parameter that has to be one of `possible`. Throws InputError otherwise, with the nearest that
// are: "it must be {what} from 3 to 137; the nearest are 27 and 29". REQUIRES: `possible` ascend, and are not
// empty.
std::uint32_t read_possible(const Parameters& parameters, std::string_view name,
                            const std::vector<std::uint32_t>& possible, std::string_view what);

// Those of `values` with which a network has hosts, and kMostHosts or fewer.
std::vector<std::uint32_t> within_limit(const std::vector<std::uint32_t>& values,
                                        const std::function<std::uint64_t(std::uint32_t)>& endpoints_with);
// first, first + 1, … last
std::vector<std::uint32_t> all_from(std::uint32_t first, std::uint32_t last);

// least_ports() chooses among the networks with `endpoints` or more the one whose routers have the fewest
// ports; of several the one with the fewest endpoints. Throws InputError that names the family and its
// largest network if none has so many.
struct SizedShape {
  std::uint32_t ports = 0;
  std::uint64_t endpoints = 0;
  SizeParameters parameters;
};
SizeParameters least_ports(std::string_view family, std::uint64_t endpoints,
                           const std::vector<SizedShape>& shapes);

}  // namespace weft::topologies
