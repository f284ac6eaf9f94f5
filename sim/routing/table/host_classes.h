// Hosts that are the same to all others: routes lead to a class, and only the last link to a host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::routing {

// Hosts of one domain, or of none, attached to the same switches in the same order. A host cabled to a host
// is a class of its own.
struct HostClass {
  std::uint32_t representative = 0;  // host number
  std::uint32_t members = 0;
  std::uint32_t domain = topologies::kNoDomain;
  bool beside_host = false;               // cabled to a host
  std::vector<std::uint32_t> neighbours;  // distinct vertices, in the order of the links

  // All of its links lead to one switch: for its hosts there is nothing to choose.
  bool has_one_way() const { return neighbours.size() == 1 && !beside_host; }
};

// The classes of these hosts, numbered as they come. Links that are down aren't there, but a host that has
// one differs from one that never had. `class_of`: by position in `hosts`.
std::vector<HostClass> classify(const topologies::Topology& topology, const std::vector<bool>& down_links,
                                std::span<const std::uint32_t> hosts, std::vector<std::uint32_t>& class_of);

}  // namespace weft::routing
