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

// `path`: one rank's profile, plain or gzip, or a folder with one per rank. Throws InputError.
Graph import_kineto(const std::filesystem::path& path, const KinetoOptions& options, PackInfo* info);

Importer kineto_importer();

}  // namespace weft::goal
