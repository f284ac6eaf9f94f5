// The links between two tiers of a folded Clos network.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/units/module.h"
#include "topologies/families/cabling.h"
#include "topologies/graph/topology.h"

namespace weft::topologies {

// `uplinks` links from each of `lower` to `upper`, spread evenly: as many to each of `upper` if that comes
// out even, otherwise dealt in turn, the next of `lower` going on where the last one stopped. REQUIRES:
// `upper` is not empty.
void link_tiers(Topology& topology, const std::vector<Vertex>& lower, const std::vector<Vertex>& upper,
                std::uint32_t uplinks, const Link& link);

// The upper tier of one of several planes: `count` switches, "NAME PLANE.0" …, all in `group`, with `uplinks`
// links from each switch below.
struct PlaneTop {
  std::string_view name;
  std::uint16_t plane = 0;
  std::uint32_t count = 0, group = 0, uplinks = 0;
};
void add_plane_top(Topology& topology, const PlaneTop& top, const std::vector<Vertex>& lower,
                   const Cabling& cabling);

// The ports of a switch of which half lead up: throws InputError if the parameter isn't even and from 2 to
// `most`. REQUIRES: `most` is even.
std::uint32_t even_ports(const Parameters& parameters, std::string_view name, std::uint32_t most);

}  // namespace weft::topologies
