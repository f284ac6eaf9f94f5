// From one rank's events to the operations and dependencies of its graph; the rules are in RULES.md.
#pragma once

#include "goal/import/kineto/notes.h"
#include "goal/import/kineto/rank_plan.h"

namespace weft::goal {

struct PlannerOptions {
  std::int64_t min_wait_ns = 20'000;  // shortest pause of a thread that may be a wait for another
};

// `trace` is sorted, and its calls go over to the plan. Throws InputError.
RankPlan plan_rank(RankTrace& trace, const PlannerOptions& options, KinetoNotes& notes);

}  // namespace weft::goal
