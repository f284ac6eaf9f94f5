// What the arrangements share: who stands with whom. For the .cc files of this folder only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "topologies/draw/layout.h"

namespace weft::topologies {

// Looks at a network that the arrangements take.
struct Plan {
  explicit Plan(const Topology& network);

  const Topology& topology;
  std::vector<std::pair<Vertex, Vertex>> links;         // in the order they were added
  std::vector<std::vector<Vertex>> hosts_of;            // of each vertex that is a host's first neighbour
  std::vector<Vertex> routers;                          // all switches
  bool shared_hosts = false;                            // some host has several switches
  std::size_t most_hosts = 0;                           // on one switch
  unsigned tiers = 0;                                   // highest tier
  std::size_t sites = 1;                                // datacenters
  std::map<std::uint32_t, std::vector<Vertex>> groups;  // the switches of each
  // The coordinates in the switches' names ("router 3.4") by switch number, if they are those of a lattice:
  // row by row, and every link changes one of them only. Else empty.
  std::vector<std::vector<std::uint32_t>> coordinates;
  std::vector<std::uint32_t> dims;

  const Node& node(Vertex v) const { return topology.node(v); }
  bool is_host(Vertex v) const { return node(v).kind == NodeKind::kHost; }

 private:
  void read_coordinates();
};

// The numbers at the end of a name: "edge 0.12" has 0 and 12.
std::vector<std::uint32_t> numbers_in(const std::string& name);

// The networks in "…:of=[A; B],…", without their brackets; none if it names none.
std::vector<std::string> named_networks(const std::string& short_form);

// A layout with room for everything, links straight and of one kind.
Layout empty_layout(const Plan& plan, Arrangement arrangement);
// Makes links straight whose ends `chosen` tells by number, or all.
void straighten(const Plan& plan, Layout& layout);

// The arrangements. Each places in `area`.
Layout tiers_layout(const Plan& plan, const Area& area);
Layout grid_layout(const Plan& plan, const Area& area);
// Throws InputError for a network with endpoints that don't forward.
Layout boards_layout(const Plan& plan, const Area& area);
Layout groups_layout(const Plan& plan, const Area& area);
Layout ring_layout(const Plan& plan, const Area& area);
// Throws InputError for a network with one site only.
Layout sites_layout(const Plan& plan, const Area& area);

inline Point mix(Point a, Point b, float share) {
  return {a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share};
}

}  // namespace weft::topologies
