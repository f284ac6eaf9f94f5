#include "goal/workload/llm/schedule.h"

#include <algorithm>

#include "goal/workload/llm/zero_bubble.h"

namespace weft::goal::llm {
namespace {

// The k-th run of a stage: groups of as many micro-batches as there are stages take the chunks in turn.
Action run(const Schedule& schedule, std::uint32_t k, Work work) {
  if (schedule.chunks == 1) return {work, 0, k};
  const std::uint32_t group = schedule.stages * schedule.chunks;
  const std::uint32_t chunk = k % group / schedule.stages;
  return {work, work == Work::kForward ? chunk : schedule.chunks - 1 - chunk,
          k / group * schedule.stages + k % schedule.stages};
}

std::uint32_t forward_first(const Schedule& schedule, std::uint32_t stage, std::uint32_t runs) {
  if (schedule.kind == ScheduleKind::kGpipe) return runs;
  const std::uint32_t behind = schedule.stages - stage - 1;
  if (schedule.chunks == 1) return std::min(behind, runs);
  return std::min(behind * 2 + (schedule.chunks - 1) * schedule.stages, runs);
}

// Forward of some, then forward and backward in turn.
std::vector<Action> alternating(const Schedule& schedule, std::uint32_t stage) {
  const std::uint32_t runs = schedule.chunks * schedule.micro_batches;
  const std::uint32_t ahead = forward_first(schedule, stage, runs);
  std::vector<Action> actions;
  for (std::uint32_t k = 0; k < ahead; ++k) actions.push_back(run(schedule, k, Work::kForward));
  for (std::uint32_t k = 0; k < runs; ++k) {
    if (k + ahead < runs) actions.push_back(run(schedule, k + ahead, Work::kForward));
    actions.push_back(run(schedule, k, Work::kBackward));
  }
  return actions;
}

// DualPipe: a stage's first chunk belongs to the end that is nearer, so micro-batches of the farther end go
// through its second one.
bool from_the_end(const Schedule& schedule, std::uint32_t stage, std::uint32_t chunk) {
  return (stage >= schedule.stages / 2) != (chunk == 1);
}

}  // namespace

std::uint32_t Schedule::number(std::uint32_t stage, std::uint32_t chunk) const {
  if (mirrored()) return from_the_end(*this, stage, chunk) ? stages - 1 - stage : stage;
  if (kind == ScheduleKind::kZbV) return chunk == 0 ? stage : 2 * stages - 1 - stage;
  return chunk * stages + stage;
}

std::uint32_t Schedule::stage_of(std::uint32_t number, std::uint32_t stage, std::uint32_t chunk) const {
  if (mirrored()) return from_the_end(*this, stage, chunk) ? stages - 1 - number : number;
  if (kind == ScheduleKind::kZbV) return number < stages ? number : 2 * stages - 1 - number;
  return number % stages;
}

std::vector<Action> actions_of(const Schedule& schedule, std::uint32_t stage) {
  switch (schedule.kind) {
    case ScheduleKind::kGpipe:
    case ScheduleKind::kOneForwardOneBackward:
      return alternating(schedule, stage);
    case ScheduleKind::kZb1p:
    case ScheduleKind::kZb2p:
      return zero_bubble(schedule, stage);
    case ScheduleKind::kZbV:
      return zero_bubble_v(schedule, stage);
    case ScheduleKind::kDualPipe:
      return dual_pipe(schedule, stage);
  }
  return {};
}

std::uint32_t most_in_flight(const Schedule& schedule, std::uint32_t stage) {
  std::uint32_t now = 0, most = 0;
  for (const Action& action : actions_of(schedule, stage)) {
    if (action.work == Work::kForward) most = std::max(most, ++now);
    if (action.work == Work::kBackward || action.work == Work::kWeights) --now;
  }
  return most;
}

}  // namespace weft::goal::llm
