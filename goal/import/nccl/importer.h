// Makes a GOAL graph of the traces of a program that uses NCCL, alone or with MPI. README.md of this folder
// has the rules.
#pragma once

#include <filesystem>

#include "goal/graph/graph.h"
#include "goal/import/importer.h"
#include "goal/pack/pack.h"

namespace weft::goal {

struct NcclImportOptions {
  // Take processes whose file was cut, each up to where its file ends, and leave out communicators that lack
  // members.
  bool partial = false;
  // Leave the algorithms to the scenario, also where NCCL's profiler interface told which one NCCL chose.
  bool ignore_choices = false;
};

// Reads nccl-*.wtrc of `directory`, one file for each process, and rank-*.wtrc if there are any. A rank of
// the graph is a GPU, or with MPI a rank of MPI_COMM_WORLD and its GPU. `info`, if given, gets metadata of
// the run and counters of all that was dropped or assumed. Throws InputError for a missing, doubled, damaged
// or (without options.partial) cut file, and for content that no program can produce.
Graph import_nccl(const std::filesystem::path& directory, const NcclImportOptions& options = {},
                  PackInfo* info = nullptr);

// Returns this importer's entry for the list of importers.
Importer nccl_importer();

}  // namespace weft::goal
