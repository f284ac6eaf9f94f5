#include "goal/workload/llm/schedule.h"

#include <algorithm>

namespace weft::goal::llm {
namespace {

// The k-th run of a stage: groups of as many micro-batches as there are stages take the chunks in turn.
Action run(const Schedule& schedule, std::uint32_t k, bool backward) {
  if (schedule.chunks == 1) return {backward, 0, k};
  const std::uint32_t group = schedule.stages * schedule.chunks;
  const std::uint32_t chunk = k % group / schedule.stages;
  return {backward, backward ? schedule.chunks - 1 - chunk : chunk,
          k / group * schedule.stages + k % schedule.stages};
}

std::uint32_t forward_first(const Schedule& schedule, std::uint32_t stage, std::uint32_t runs) {
  if (schedule.kind == ScheduleKind::kGpipe) return runs;
  const std::uint32_t behind = schedule.stages - stage - 1;
  if (schedule.chunks == 1) return std::min(behind, runs);
  return std::min(behind * 2 + (schedule.chunks - 1) * schedule.stages, runs);
}

}  // namespace

std::vector<Action> actions_of(const Schedule& schedule, std::uint32_t stage) {
  const std::uint32_t runs = schedule.chunks * schedule.micro_batches;
  const std::uint32_t ahead = forward_first(schedule, stage, runs);
  std::vector<Action> actions;
  for (std::uint32_t k = 0; k < ahead; ++k) actions.push_back(run(schedule, k, false));
  for (std::uint32_t k = 0; k < runs; ++k) {
    if (k + ahead < runs) actions.push_back(run(schedule, k + ahead, false));
    actions.push_back(run(schedule, k, true));
  }
  return actions;
}

}  // namespace weft::goal::llm
