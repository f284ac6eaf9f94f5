// The METIS library behind an interface of vectors.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::topologies {

// An undirected graph with positive weights whose sums fit 32 bits, every edge listed from both ends.
struct WeightedGraph {
  std::vector<std::int32_t> vertex_weight;
  std::vector<std::int32_t> begin = {0};  // the edges of vertex v are begin[v] … begin[v + 1] - 1
  std::vector<std::int32_t> to, edge_weight;

  std::uint32_t vertices() const { return static_cast<std::uint32_t>(vertex_weight.size()); }
};

// The part of each vertex: as many parts as asked for, or one for each vertex if those are fewer, and none
// empty. By repeated bisection. REQUIRES: parts >= 1.
// Not to be called by two threads at a time: METIS draws from the C library's rand().
std::vector<std::uint32_t> split(const WeightedGraph& graph, std::uint32_t parts, std::uint64_t seed);

// Side 0 or 1 of each vertex, with little edge weight across and vertex weights as equal as METIS manages,
// which may not be exactly; vertices may weigh nothing. The same caution as for split(). REQUIRES: two
// vertices or more.
std::vector<std::uint32_t> bisect(const WeightedGraph& graph, std::uint64_t seed);
// Bisects with about this share of the weight on side 0; the caution of split() holds here too. REQUIRES: two
// vertices or more, and 0 < share < 1.
std::vector<std::uint32_t> bisect(const WeightedGraph& graph, double share, std::uint64_t seed);

}  // namespace weft::topologies
