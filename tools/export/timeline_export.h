// From the tables of a run to a trace: ranks and messages as slices, links and queues as counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/export/run_database.h"
#include "tools/export/trace_writer.h"

namespace weft::tools {

struct ExportTotals {
  std::uint64_t slices = 0, messages = 0, counters = 0;  // counters: tracks of them
  std::vector<std::string> remarks;                      // what is left out, a sentence each
};

// Rows of all tables that a trace is made of.
std::uint64_t rows_to_export(const RunDatabase& run);

// Throws InputError for a run that left neither a timeline nor samples, and for tables longer than a run
// leaves.
ExportTotals export_timeline(const RunDatabase& run, TraceWriter& trace);

}  // namespace weft::tools
