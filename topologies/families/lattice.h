// Routers at the points of a grid, linked along its lines: what meshes, tori, hypercubes and HyperX networks
// have in common. They differ in which points of a line are linked.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/units/module.h"
#include "topologies/families/cabling.h"
#include "topologies/graph/topology.h"

namespace weft::topologies {

// The links of a line of `size` points, numbered from 0.
using LineLinks = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
LineLinks path_links(std::uint32_t size);  // each point to the next
LineLinks ring_links(std::uint32_t size);  // also the last to the first, if they are not neighbours already
LineLinks complete_links(std::uint32_t size);  // each to each

// `shape` (what sets the sizes: `dims` for most), then `hosts` and the parameters of cabling.
std::vector<ParameterSpec> with_hosts(ParameterSpec shape);
ParameterSpec dims_parameter();
// The sizes in the parameter `name`, written 8x8x4. Throws InputError unless there are from 1 to 24 sizes,
// each 1 or more, whose product is kMostHosts or less.
std::vector<std::uint32_t> read_dims(const Parameters& parameters, std::string_view name = "dims");
// The parameter `hosts`. Throws InputError if the hosts are more than kMostHosts.
std::uint32_t hosts_parameter(const Parameters& parameters, const std::vector<std::uint32_t>& dims,
                              std::uint32_t automatic = 1);

struct Lattice {
  std::vector<std::uint32_t> dims;  // as from read_dims()
  std::vector<LineLinks> lines;     // of each dimension
  std::uint32_t hosts_per_router = 1;
  std::uint32_t links_per_host = 1;
  std::vector<std::uint32_t> order;  // routers in the order of their hosts; empty: that of the routers
};

// Routers and hosts are numbered with the last dimension fastest; router (3, 4) is named "router 3.4" and is
// a group of its own. A router's channels lead to its hosts first, then along dimension 0, 1, …
Topology build_lattice(std::string name, const Lattice& lattice, const Cabling& cabling);
// The network with all lines of all dimensions linked by `links`, and the other parameters of with_hosts().
Topology build_lattice(const std::string& family, const Parameters& parameters,
                       const std::vector<std::uint32_t>& dims,
                       const std::function<LineLinks(std::uint32_t size)>& links,
                       std::uint32_t automatic_hosts = 1);

}  // namespace weft::topologies
