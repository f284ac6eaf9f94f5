// Samples over time as counters of a trace.
#pragma once

#include <cstdint>

#include "tools/export/run_database.h"
#include "tools/export/trace_writer.h"

namespace weft::tools {

// Writes samples and network_samples of the run as tracks from number `first` on, in this group, which is
// announced if there are any. Returns how many tracks.
std::uint32_t export_counters(const RunDatabase& run, std::uint32_t group, std::uint32_t first,
                              TraceWriter& trace);

}  // namespace weft::tools
