#include "topologies/analysis/disjoint_paths.h"

#include <algorithm>
#include <array>

#include "sim/units/random.h"

namespace weft::topologies {

DisjointPaths::DisjointPaths(const ArcGraph& graph)
    : graph_(graph),
      left_(graph.links),
      hops_(graph.vertices()),
      arc_in_(graph.vertices()),
      seen_(graph.vertices(), 0),
      wanted_(graph.vertices(), 0) {}

std::uint32_t DisjointPaths::count(std::span<const std::uint32_t> from, std::span<const std::uint32_t> to,
                                   std::uint32_t longest) {
  ++target_round_;
  for (const std::uint32_t v : to) wanted_[v] = target_round_;
  std::uint32_t found = 0;
  while (take_path(from, longest, longest == kAnyLength)) ++found;
  for (const std::uint32_t a : touched_) left_[a] = graph_.links[a];
  touched_.clear();
  return found;
}

// Breadth first to the nearest target over what is left; takes that path out.
bool DisjointPaths::take_path(std::span<const std::uint32_t> from, std::uint32_t longest, bool exact) {
  ++round_;
  queue_.clear();
  for (const std::uint32_t v : from) {
    seen_[v] = round_;
    hops_[v] = 0;
    queue_.push_back(v);
  }
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const std::uint32_t v = queue_[at];
    if (hops_[v] == longest) return false;
    for (std::uint32_t a = graph_.begin[v]; a < graph_.begin[v + 1]; ++a) {
      const std::uint32_t u = graph_.to[a];
      if (left_[a] == 0 || seen_[u] == round_) continue;
      seen_[u] = round_;
      hops_[u] = hops_[v] + 1;
      arc_in_[u] = a;
      if (wanted_[u] != target_round_) {
        queue_.push_back(u);
        continue;
      }
      std::uint32_t w = u;
      for (std::uint32_t hop = hops_[u]; hop > 0; --hop) {
        const std::uint32_t in = arc_in_[w], back = graph_.reverse[in];
        // A link taken in one direction is gone for both; a maximum flow may undo it.
        --left_[in];
        if (exact) {
          ++left_[back];
        } else {
          --left_[back];
        }
        touched_.push_back(in);
        touched_.push_back(back);
        w = graph_.to[back];
      }
      return true;
    }
  }
  return false;
}

PathDiversity path_diversity(const RouterGraph& graph, std::uint32_t longest, std::uint64_t samples,
                             std::uint64_t seed) {
  PathDiversity result;
  result.longest = longest;
  const std::vector<std::uint32_t> among = graph.endpoint_routers();
  DisjointPaths paths(graph);
  // `wanted` different routers.
  const auto draw = [&](RandomStream& random, std::span<std::uint32_t> wanted) {
    for (std::size_t i = 0; i < wanted.size();) {
      wanted[i] = among[random.below(among.size())];
      if (std::find(wanted.begin(), wanted.begin() + i, wanted[i]) == wanted.begin() + i) ++i;
    }
  };
  if (among.size() < 2) return result;
  RandomStream random(seed, 0, 2);
  double sum = 0, three = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    std::array<std::uint32_t, 2> r;
    draw(random, r);
    const std::uint32_t count = paths.count({&r[0], 1}, {&r[1], 1}, longest);
    result.least = i == 0 ? count : std::min(result.least, count);
    result.most = std::max(result.most, count);
    sum += count;
    three += count >= 3;
    ++result.pairs;
  }
  if (result.pairs > 0) {
    result.mean = sum / static_cast<double>(result.pairs);
    result.three_or_more = three / static_cast<double>(result.pairs);
  }
  if (among.size() < 4) return result;
  double interference = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    std::array<std::uint32_t, 4> r;  // a, c, b, d
    draw(random, r);
    const double alone =
        paths.count({&r[0], 1}, {&r[2], 1}, longest) + paths.count({&r[1], 1}, {&r[3], 1}, longest);
    const double both = paths.count({&r[0], 2}, {&r[2], 2}, longest);
    interference += alone - both;
    result.most_interference = std::max(result.most_interference, alone - both);
    ++result.quadruples;
  }
  if (result.quadruples > 0) result.interference = interference / static_cast<double>(result.quadruples);
  return result;
}

}  // namespace weft::topologies
