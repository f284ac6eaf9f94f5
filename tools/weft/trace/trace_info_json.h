// `weft trace info --json`.
#pragma once

#include <string>
#include <vector>

#include "goal/import/flight_recorder/dump.h"
#include "goal/import/mpi/trace_summary.h"

namespace weft::cli {

// Every figure of the text; JSON.md of this folder names the fields.
std::string trace_info_json(const goal::TraceSummary& summary);

// Tells of a flight recorder's dumps how many ranks there are, and as `stuck` and
// `stuck_messages` what stuck_calls() and stuck_messages() give.
std::string dumps_json(const std::vector<goal::RankDump>& dumps);

// "Open MPI v4.1.4, package: …" and "MPICH Version:\t4.0.2" without what no one asked for.
std::string short_library(const std::string& version);

}  // namespace weft::cli
