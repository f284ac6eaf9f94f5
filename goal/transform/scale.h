// Faster or slower compute.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "goal/graph/graph.h"
#include "goal/transform/rank_list.h"

namespace weft::goal {

// Multiplies the times of some calcs.
struct ScaleRule {
  double factor = 1;                 // of the time: 0.5 makes compute twice as fast; 0 or more, finite
  std::optional<RankList> ranks;     // none: all
  std::optional<std::uint16_t> cpu;  // calcs on this compute stream only; none: on all
};

// The graph with the time of each calc multiplied by the factors of all rules that fit it, one after the
// other, rounded to whole nanoseconds each time. Throws InputError for a factor that is negative or no
// number, and for times beyond 2^62 ns.
Graph scale(const Graph& graph, std::span<const ScaleRule> rules);

// How many calcs such a rule fits.
std::uint64_t count_calcs(const Graph& graph, const std::optional<RankList>& ranks,
                          std::optional<std::uint16_t> cpu);

// value * factor to the nearest whole number, exact for a factor of 1. REQUIRES: factor >= 0. Throws
// InputError past 2^62.
std::uint64_t scaled_ns(std::uint64_t value, double factor);

}  // namespace weft::goal
