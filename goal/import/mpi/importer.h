// Makes a GOAL graph of the traces of an MPI program. README.md of this folder has the rules.
#pragma once

#include <filesystem>

#include "goal/graph/graph.h"
#include "goal/import/importer.h"
#include "goal/import/mpi/notes.h"
#include "goal/import/mpi/rank_importer.h"
#include "goal/pack/pack.h"

namespace weft::goal {

// Reads rank-*.wtrc of `directory`, one file for each rank of MPI_COMM_WORLD. `info`, if given, gets metadata
// of the run and counters of all that was dropped or assumed. Throws InputError for a missing, doubled,
// damaged or (without options.partial) cut file, and for content that no MPI program can produce.
Graph import_mpi(const std::filesystem::path& directory, const MpiImportOptions& options = {},
                 PackInfo* info = nullptr);

// What an import of MPI calls met, as anomalies.
void report(const ImportNotes& notes, PackInfo& info);

// import_mpi as an entry of the list of importers.
Importer mpi_importer();

}  // namespace weft::goal
