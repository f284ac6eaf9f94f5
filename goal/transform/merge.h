// Several jobs in one graph.
#pragma once

#include <span>
#include <string>

#include "goal/graph/graph.h"

namespace weft::goal {

struct MergeJob {
  const Graph* graph = nullptr;
  std::string name;  // goes before the names of the job's communicators: "lj: world"
};

// One graph with the ranks of all jobs, one job after the other. The world of each job becomes a communicator
// of its own and its other communicators stay apart, so messages and collectives of two jobs never meet,
// whatever their tags. One job alone comes out as it went in. Throws InputError if there are more than 2^32 -
// 2 ranks.
Graph merge(std::span<const MergeJob> jobs);

}  // namespace weft::goal
