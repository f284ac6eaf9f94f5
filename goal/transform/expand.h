// Collectives spelled out as sends, receives and calcs.
#pragma once

#include "goal/collectives/selection.h"
#include "goal/graph/graph.h"

namespace weft::goal {

struct ExpandOptions {
  // Time to combine received data, per byte; a calc of that time (to the nearest nanosecond) follows each
  // receive that combines. 0: none follows.
  double reduction_ns_per_byte = 0;
};

// The graph with every collective operation in the place of which stand the steps of the algorithm that
// `selection` chooses, as a replay would work them out:
// - the first steps wait for what the collective waited for; who waited for the collective waits for its last
//   ones. All of a group of steps requires all of the group before it; where both are many, a calc of 0 joins
//   them. Lanes go on side by side. Where a collective has nothing to do on a rank, a calc of 0 is left.
// - Messages of collectives on a communicator are on a communicator of their own, "NAME: collectives", so
// that
//   no tag of the user's can meet theirs. There the k-th collective has tags from k T on, T being the most
//   tags that one of them uses.
// In plain GOAL (plain.h) nothing remains of the communicators.
// Throws InputError for algorithms that can't be used, tags beyond 2^32 - 3, a rank that calls a collective
// of a communicator it is not in, and operations that wait for each other in a circle.
Graph expand_collectives(const Graph& graph, const CollectiveSelection& selection,
                         const ExpandOptions& options = {});

}  // namespace weft::goal
