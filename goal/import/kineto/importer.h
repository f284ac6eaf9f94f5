// Profiles of PyTorch's profiler (Kineto) to GOAL.
#pragma once

#include <string>

#include "goal/import/importer.h"
#include "goal/import/kineto/notes.h"
#include "goal/import/kineto/planner.h"

namespace weft::goal {

struct KinetoOptions {
  PlannerOptions planner;
  // PyTorch execution traces of the same ranks: a file, or a folder with one per rank; empty: none.
  std::string execution_traces;
  bool alike = false;                            // ranks without a profile do what others do
  std::int64_t first_step = -1, last_step = -1;  // -1: all
};

// `paths`: one rank's profile, plain or gzip, a folder with one per rank, or several. Throws InputError.
Graph import_kineto(const TracePaths& paths, const KinetoOptions& options, PackInfo* info);

Importer kineto_importer();

}  // namespace weft::goal
