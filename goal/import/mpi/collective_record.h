// An MPI collective call as a collective of the graph.
#pragma once

#include "goal/graph/graph.h"
#include "goal/import/mpi/trace_reader.h"

namespace weft::goal {

// Which collective a call of shape kCollective, kCollectiveRequest or kCollectiveInit is.
CollectiveKind kind_of_collective(trace::Function function);
// Has it sizes by rank: Gatherv, Scatterv, Allgatherv, Alltoallv, Alltoallw?
bool is_by_counts(trace::Function function);
// What the call does, but for its communicator (0). REQUIRES: the record's shape is kCollective or
// kCollectiveRequest, over an intracommunicator.
Collective collective_of(const TraceRecord& record);
// Returns what a collective among neighbors does, but for its communicator (0).
Collective neighbor_collective_of(const TraceRecord& record);
// Throws InputError for a root, neighbors or counts that the communicator has no ranks for, which no MPI
// program has.
void check_fits(const Collective& collective, const TraceCommunicator& communicator);

}  // namespace weft::goal
