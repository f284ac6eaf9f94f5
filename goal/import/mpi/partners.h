// What is left of a program whose ranks' traces end at different places.
#pragma once

#include <cstdint>

#include "goal/graph/graph.h"

namespace weft::goal {

// Operations whose other sides are not in the graph.
struct WithoutPartners {
  std::uint64_t sends = 0, receives = 0, collectives = 0;  // collectives: calls, not operations of all ranks
};

// The graph with a calc of no time in the place of each of those, so that a replay comes to its end. Of the
// messages of one source, destination, communicator and tag, the k-th send meets the k-th receive; what is
// left over on either side goes. So does a receive that is still open to any source or tag, since it never
// got a message; and of a communicator's collectives those behind the last that all its ranks call.
// REQUIRES: the ranks' operations are the first ones of a run that really happened, in which only receives
// that got nothing are wildcards.
Graph drop_without_partners(const Graph& graph, WithoutPartners& dropped);

// Counts the sends beyond the receives of their source, destination, communicator and tag. None where a
// receive is from any source or with any tag.
std::uint64_t sends_never_received(const Graph& graph);

}  // namespace weft::goal
