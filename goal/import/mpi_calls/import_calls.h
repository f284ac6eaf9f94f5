// From the calls of all ranks to a graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "goal/graph/graph.h"
#include "goal/import/mpi/rank_importer.h"
#include "goal/import/mpi_calls/call.h"

namespace weft::goal {

struct CallsImport {
  Graph graph;
  std::uint64_t elapsed_ns = 0;  // the longest of a rank, from MPI_Init to MPI_Finalize
};

// Reads every rank twice, one at a time: first for the communicators, then for the graph. Throws InputError
// at the location that the source gives.
CallsImport import_calls(Rank ranks, const std::function<std::unique_ptr<CallSource>(Rank)>& open,
                         const MpiImportOptions& options, ImportNotes& notes);

}  // namespace weft::goal
