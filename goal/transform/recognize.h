// Messages that together do what a collective does.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/anomaly.h"
#include "goal/graph/graph.h"

namespace weft::goal {

// The graph with collective operations in the place of messages that make a
// - bcast or reduce over a binomial tree (either numbering: the parent of v is v less its lowest or its
// highest
//   bit, counted from the root), or an
// - alltoall, every rank to every other.
// All messages of one communicator and tag are taken together, then all that are left of a communicator. They
// must make the same pattern over and over, with one size each time, and what belongs to one time must stand
// together in each rank's program, with dependencies that point forward; otherwise they stay as they are. The
// communicator must hold all ranks. What was found is counted in *anomalies.
Graph recognize_collectives(const Graph& graph, std::vector<Anomaly>* anomalies = nullptr);

}  // namespace weft::goal
