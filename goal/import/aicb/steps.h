// What AICB's rows do, as a graph.
//
// Source: AICB, workload_applyer.py, which carries them out one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "goal/anomaly.h"
#include "goal/graph/graph.h"
#include "goal/import/aicb/trace.h"

namespace weft::goal {

class Device;

enum class AicbTime : std::uint8_t { kAuto, kNanoseconds, kMilliseconds };

struct AicbOptions {
  // 0: as the file says.
  Rank ranks = 0;
  std::uint32_t tensor = 0, pipeline = 0, expert = 0;
  AicbTime time = AicbTime::kAuto;
  bool skip_init = false;          // leave out what comes before the first epoch's end
  const Device* device = nullptr;  // reckons computations that have no time
};

// Throws InputError that names `file_name` for sizes that don't fit together, or that nobody says.
Graph aicb_graph(const AicbTrace& trace, const AicbOptions& options, const std::string& file_name,
                 std::vector<Anomaly>& anomalies);

}  // namespace weft::goal
