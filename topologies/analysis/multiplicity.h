// How many shortest paths there are between routers.
#pragma once

#include <cstdint>
#include <map>

#include "topologies/analysis/router_graph.h"

namespace weft::topologies {

// Over ordered pairs of distinct routers with endpoints that can reach each other. Paths over different
// parallel links are different paths.
struct Multiplicity {
  std::map<std::uint64_t, std::uint64_t> pairs;  // by the number of their shortest paths (2^53 at most)
  double mean = 0;
  std::uint64_t sources = 0;
  bool sampled = false;  // only paths from some of the routers were counted

  std::uint64_t all_pairs() const;
};

// Counts from all routers with endpoints, or from `most_sources` of them, drawn with `seed`.
Multiplicity multiplicity(const RouterGraph& graph, std::uint64_t most_sources = ~std::uint64_t{0},
                          std::uint64_t seed = 1);

}  // namespace weft::topologies
