// Properties of a network, measured on its graph.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "topologies/families.h"

namespace weft::topologies {

inline Topology make(const std::string& short_form) { return build(parse_module_choice(short_form)); }

// Links from `source` to every vertex.
std::vector<int> distances(const Topology& topology, Vertex source);

// Number of shortest paths from `source` to every vertex: by increasing distance, the sum over the
// neighbours that are one link nearer.
std::vector<std::uint64_t> path_counts(const Topology& topology, Vertex source);

std::size_t links_between_switches(const Topology& topology);

std::vector<Vertex> switches_of_tier(const Topology& topology, int tier);

struct PathLengths {
  int diameter = 0;
  double average = 0;  // over ordered pairs of distinct vertices
};
PathLengths path_lengths(const Topology& topology, const std::vector<Vertex>& among);
double average_path_length(const Topology& topology, const std::vector<Vertex>& among);

// Pairs of switches that are joined by one link or several.
std::set<std::pair<std::uint32_t, std::uint32_t>> joined_switches(const Topology& topology);

}  // namespace weft::topologies
