// Dumps of PyTorch's flight recorder as a graph: the collectives and messages of a job that nobody profiled.
#pragma once

#include <filesystem>

#include "goal/graph/graph.h"
#include "goal/import/flight_recorder/dump.h"
#include "goal/import/importer.h"
#include "goal/pack/pack.h"

namespace weft::goal {

// The dumps of all ranks in a folder or in files, by rank. Throws InputError, also where two are of one
// rank or a rank can't be told.
std::vector<RankDump> read_dumps(const TracePaths& paths);

// `blocking`: the program waits for each call before it goes on. Throws InputError.
Graph import_flight_recorder(const TracePaths& paths, bool blocking, PackInfo* info);

// Is it a dump, or a folder with one?
bool has_dumps(const std::filesystem::path& path);

Importer flight_recorder_importer();

}  // namespace weft::goal
