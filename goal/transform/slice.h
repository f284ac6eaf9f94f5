// Part of a graph: some ranks, or a stretch of time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "goal/anomaly.h"
#include "goal/graph/graph.h"
#include "goal/transform/rank_list.h"

namespace weft::goal {

struct SliceOptions {
  std::optional<RankList> ranks;  // none: all
  // In the ideal schedule (ideal_schedule.h), where communication costs nothing. `to_ns` is the first moment
  // behind the slice.
  std::optional<std::uint64_t> from_ns, to_ns;
};

// The graph of the chosen ranks, numbered from 0 as they were named, and of what they do in the stretch of
// time. Communicators of all ranks take that order too; others keep theirs.
// - A calc that reaches over an end of the stretch is cut there. What was under way at its begin (a posted
//   receive, a called collective) belongs to it.
// - A send or receive whose other side is not in the slice becomes a calc of 0.
// - Communicators lose the members that are left out; a collective goes on among the rest, with the first of
// them
//   as root if the root is gone. One that part of the remaining members calls outside the stretch becomes a
//   calc of 0 on all.
// Each of these is counted in *anomalies, and that nothing is left of a stretch. Throws InputError if no rank
// is left, if the stretch is empty, or if a stretch is asked for and the program can't run to its end.
Graph slice(const Graph& graph, const SliceOptions& options, std::vector<Anomaly>* anomalies = nullptr);

}  // namespace weft::goal
