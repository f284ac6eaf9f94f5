// Paths of bounded length that share no link, and how much two communicating pairs take from each other.
// Source: M. Besta et al., FatPaths: routing in supercomputers and data centers when shortest paths fall
// short, SC 2020 (count of disjoint paths c_l, path interference I^l).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topologies/analysis/router_graph.h"

namespace weft::topologies {

inline constexpr std::uint32_t kAnyLength = 0xFFFFFFFFu;

// Finds sets of paths without a common link. Reusable; not to be shared between threads.
class DisjointPaths {
 public:
  explicit DisjointPaths(const ArcGraph& graph);
  // How many paths of at most `longest` hops from a vertex of `from` to one of `to`, no two over the same
  // link; parallel links count as several. kAnyLength: the exact number (a maximum flow). Otherwise by taking
  // a shortest path out, again and again: a lower bound, and exact where all such paths are of least length
  // 3 or less and don't compete (to find the most is NP-hard from length 5 on). REQUIRES: no vertex is in
  // both sets.
  std::uint32_t count(std::span<const std::uint32_t> from, std::span<const std::uint32_t> to,
                      std::uint32_t longest);

 private:
  bool take_path(std::span<const std::uint32_t> from, std::uint32_t longest, bool exact);

  const ArcGraph& graph_;
  std::vector<std::uint32_t> left_;  // by arc: links still free; for a maximum flow the residual ones
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint32_t> hops_, arc_in_, queue_;
  std::vector<std::uint32_t> seen_, wanted_;  // equal to round_ / target_round_: true
  std::uint32_t round_ = 0, target_round_ = 0;
};

struct PathDiversity {
  std::uint32_t longest = 0;  // hops allowed
  std::uint64_t pairs = 0;    // sampled pairs of distinct routers with endpoints
  double mean = 0;            // disjoint paths of a pair
  std::uint32_t least = 0, most = 0;
  double three_or_more = 0;  // share of pairs
  std::uint64_t quadruples = 0;
  // c({a},{b}) + c({c},{d}) - c({a,c},{b,d}) over sampled different a, b, c, d: mean and most.
  double interference = 0, most_interference = 0;
};

// Over up to `samples` pairs and quadruples of routers with endpoints, drawn with `seed`; fewer where the
// network has fewer routers. Zeros if there are not 2 (for interference: 4) of them.
PathDiversity path_diversity(const RouterGraph& graph, std::uint32_t longest, std::uint64_t samples,
                             std::uint64_t seed);

}  // namespace weft::topologies
