// What a SimAI workload's layers do, as a graph: every rank does the same.
//
// Source: ASTRA-sim 1.0 and SimAI, astra-sim/workload/Workload.cc (what waits for what).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "goal/anomaly.h"
#include "goal/graph/graph.h"
#include "goal/import/simai/workload_file.h"

namespace weft::goal {

// What the bytes of ALLGATHER are.
enum class GatheredBytes : std::uint8_t { kAuto, kTotal, kBlock };

struct SimaiOptions {
  Rank ranks = 0;                     // 0: as the file says
  std::uint32_t passes = 1;           // forward and backward
  std::uint32_t first_dimension = 0;  // ranks in the machine's first dimension; 0: not said
  GatheredBytes gathered = GatheredBytes::kAuto;
};

// Throws InputError that names `file_name` for sizes that don't fit together, or that nobody says.
Graph simai_graph(const SimaiWorkload& workload, const SimaiOptions& options, const std::string& file_name,
                  std::vector<Anomaly>& anomalies);

}  // namespace weft::goal
