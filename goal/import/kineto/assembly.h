// Puts the ranks of a training run together: process groups, partners, ranks without a profile of their own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/kineto/notes.h"
#include "goal/import/kineto/rank_plan.h"

namespace weft::goal {

// A rank at hand.
struct PlannedRank {
  std::string path;
  RankPlan plan;
  std::vector<GroupName> groups = {};  // process groups its file lists
  bool lost_front = false;             // were calls before its plan recorded, and dropped?
};

// `ranks` by world rank, fewer than `world` where some have no profile: each of these then does what the
// rank at hand does that comes next below it (the first one, if there is none), in the group of the same
// form. Throws InputError where groups do not say which that is, or ranks contradict each other.
Graph assemble(std::map<Rank, PlannedRank>& ranks, Rank world, KinetoNotes& notes);

}  // namespace weft::goal
