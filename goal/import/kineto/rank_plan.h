// What one rank is to do in the graph, before ranks are held against each other.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "goal/import/kineto/comm_call.h"
#include "goal/import/kineto/rank_trace.h"

namespace weft::goal {

struct PlannedOp {
  std::uint64_t ns = 0;          // of compute; of communication: what it took in the profile
  std::uint32_t call = kNoCall;  // of communication: its CommCall
  std::uint16_t cpu = 0;
};

struct RankPlan {
  std::vector<PlannedOp> ops;                                  // in order of time
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;  // the second waits for the first
  std::vector<CommCall> calls;
  std::uint64_t span_ns = 0;  // from the first event to the end of the last
};

}  // namespace weft::goal
