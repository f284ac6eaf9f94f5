#include "topologies/families/clos.h"

#include <fmt/core.h>

namespace weft::topologies {

void link_tiers(Topology& topology, const std::vector<Vertex>& lower, const std::vector<Vertex>& upper,
                std::uint32_t uplinks, const Link& link) {
  const std::size_t above = upper.size();
  const bool even = uplinks % above == 0;
  for (std::size_t l = 0; l < lower.size(); ++l) {
    for (std::size_t u = 0; u < uplinks; ++u) {
      const std::size_t to = even ? u / (uplinks / above) : (l * uplinks + u) % above;
      topology.add_link(lower[l], upper[to], link);
    }
  }
}

void add_plane_top(Topology& topology, const PlaneTop& top, const std::vector<Vertex>& lower,
                   const Cabling& cabling) {
  std::vector<Vertex> upper;
  for (std::uint32_t i = 0; i < top.count; ++i) {
    upper.push_back(topology.add_switch(fmt::format("{} {}.{}", top.name, top.plane, i), 2, top.group,
                                        cabling.switch_latency, top.plane));
  }
  link_tiers(topology, lower, upper, top.uplinks, cabling.fabric);
}

std::uint32_t even_ports(const Parameters& parameters, std::string_view name, std::uint32_t most) {
  const std::int64_t k = parameters.integer(name);
  if (k < 2 || k > most) {
    parameters.fail(
        name, fmt::format("it must be even and from 2 to {}; the nearest is {}", most, k < 2 ? 2 : most));
  }
  if (k % 2 != 0) {
    parameters.fail(name,
                    fmt::format("it must be even: each switch has k/2 ports up and k/2 down; the nearest "
                                "are {} and {}",
                                k - 1, k + 1));
  }
  return static_cast<std::uint32_t>(k);
}

}  // namespace weft::topologies
