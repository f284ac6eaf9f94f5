// Graphs that every GOAL tool understands.
#pragma once

#include <vector>

#include "goal/anomaly.h"
#include "goal/graph/graph.h"

namespace weft::goal {

// The graph without communicators. Messages on the world keep their tags. Every other pair of communicator
// and tag in use gets a tag of its own: consecutive numbers from behind the highest tag of the world, in the
// order of (communicator, tag). So messages match as before. A graph whose messages are all on one
// communicator keeps its tags. A receive of any tag would take messages of other communicators: where there
// are several in use, it gets the tag of the message that it takes in the ideal schedule (ideal_schedule.h),
// counted in *anomalies. Throws InputError if there are collectives left (expand them first) or tags from
// 2^31 on, which the peers take for negative.
Graph fold_communicators(const Graph& graph, std::vector<Anomaly>* anomalies = nullptr);

}  // namespace weft::goal
