// Hop distances between routers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "topologies/analysis/router_graph.h"

namespace weft::topologies {

inline constexpr std::uint8_t kUnreachable = 255;  // also any distance above 254

// Calls `visit` for each of `sources` in turn with the hops to every vertex (0 to itself). Rows live until
// `visit` returns. Memory: 256 rows of one byte a vertex, whatever the number of sources. Vertices from
// `forwarding` on are reached but not passed through (unless they are the source).
// Method: breadth-first from 256 sources at a time, one bit each; M. Then et al., The more the merrier:
// efficient multi-source graph traversal, PVLDB 8(4), 2014.
void visit_distances(
    const ArcGraph& graph, std::span<const std::uint32_t> sources,
    const std::function<void(std::uint32_t source, std::span<const std::uint8_t> row)>& visit,
    std::uint32_t forwarding = 0xFFFFFFFFu);

// Over ordered pairs of distinct vertices out of `among`, the first of them out of the sources.
struct DistanceSummary {
  std::uint32_t diameter = 0;            // hops, of pairs that can reach each other
  double average = 0;                    // hops, the same; 0 if there is no pair
  std::vector<std::uint64_t> histogram;  // pairs by hops, from 0; entry 0 is always 0
  std::uint64_t unreachable = 0;         // pairs without a path, as between the planes of a network
  std::uint64_t sources = 0;             // how many were followed
  bool sampled = false;                  // fewer than all: average and histogram are estimates, the diameter
                                         // is a lower bound
};

// All of `among` are sources, or `most_sources` of them, drawn with `seed`, if that is fewer.
DistanceSummary distance_summary(const ArcGraph& graph, std::span<const std::uint32_t> among,
                                 std::uint64_t most_sources = ~std::uint64_t{0}, std::uint64_t seed = 1);

// `count` different entries of `from`, in its order; all of them if they are fewer. The same arguments give
// the same result.
std::vector<std::uint32_t> sample(std::span<const std::uint32_t> from, std::uint64_t count,
                                  std::uint64_t seed, std::uint64_t purpose);

}  // namespace weft::topologies
