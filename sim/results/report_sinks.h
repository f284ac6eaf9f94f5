// The sinks of this folder, as entries: the report in files and on the terminal, samples over time. Columns
// and keys are described in FILES.md and SUMMARY.md.
#pragma once

#include <vector>

#include "sim/run/sink.h"

namespace weft::results {

std::vector<sim::Sink> report_sinks();
sim::Sink series_sink();

}  // namespace weft::results
