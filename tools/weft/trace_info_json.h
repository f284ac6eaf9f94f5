// `weft trace info --json`.
#pragma once

#include <string>

#include "goal/import/mpi/trace_summary.h"

namespace weft::cli {

// Every figure of the text; README.md of this folder names the fields.
std::string trace_info_json(const goal::TraceSummary& summary);

// "Open MPI v4.1.4, package: …" and "MPICH Version:\t4.0.2" without what no one asked for.
std::string short_library(const std::string& version);

}  // namespace weft::cli
