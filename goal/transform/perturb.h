// Compute times with noise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "goal/graph/graph.h"
#include "goal/transform/rank_list.h"
#include "sim/units/module.h"

namespace weft::goal {

struct PerturbOptions {
  std::uint64_t seed = 1;
  std::optional<RankList> ranks;     // none: all
  std::optional<std::uint16_t> cpu;  // calcs on this compute stream only; none: on all
};

// The graph with the calcs of each rank lengthened (or, by `gaussian`, shortened) by the chosen models of
// noise.h, one after the other. Detours count a cpu's own computing time, in program order: time spent
// waiting is not known before the replay, so none falls into it. Throws InputError for unknown models and
// wrong parameters.
Graph perturb(const Graph& graph, std::span<const ModuleChoice> noises, const PerturbOptions& options);

}  // namespace weft::goal
