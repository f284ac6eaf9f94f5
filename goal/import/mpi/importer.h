// Makes a GOAL graph of the traces of an MPI program. RULES.md of this folder has the rules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

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

// The file of each rank, by rank. Throws InputError if they are not those of one whole run.
// Ranks that another program in the folder has spawned are left out; `spawned`, if given, tells how many
// there are.
std::vector<std::filesystem::path> mpi_rank_files(const std::filesystem::path& directory,
                                                  std::uint64_t* spawned = nullptr);
// What one-sided calls of these files do at their targets, read when it is first asked for. `files` stays.
OneSidedTraffic one_sided_traffic(const std::vector<std::filesystem::path>& files);
// Puts what an import of MPI calls met, and could not replay, into `info`.
void report_notes(const ImportNotes& notes, PackInfo& info);

// Returns this importer's entry for the list of importers.
Importer mpi_importer();

}  // namespace weft::goal
