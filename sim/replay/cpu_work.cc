#include "sim/replay/cpu_work.h"

#include <fmt/core.h>

#include "sim/replay/timeline_tap.h"
#include "sim/units/graph_error.h"

namespace weft::sim {

void CpuWork::give_task(std::uint32_t handle) {
  const ReplayTask& task = with_.tasks[handle];
  RankState& rank = with_.ranks[task.local];
  give(rank, with_.cpus.of(rank, rank.view.cpu(with_.open.op_of(task))), handle | kTask);
}

// The calc at the end of its time goes on for what it has lost.
bool CpuWork::goes_on_with_calc(RankState& rank, std::uint32_t index) {
  const Cpu& cpu = with_.cpus[index];
  const Time more = lost(rank, cpu);
  if (more == Time()) return false;
  rank.compute = after(rank.compute, more);
  overlap_->count(index, more);
  overlap_->begin_calc(local_of(rank), index, with_.work.now());
  schedule_done(rank, cpu, more, true);
  return true;
}

bool CpuWork::end_of_task(RankState& rank, const Cpu& cpu, std::uint32_t task) {
  if (with_.tasks[task].state != TaskState::kTrain) {
    end_of_receive(task);
    return false;
  }
  const Time duration = with_.collectives.end_of_message(task);
  if (duration == Time()) return false;
  schedule_done(rank, cpu, duration, false);
  return true;
}

// Ends the work on a message that has come, or the combining of what it brought.
void CpuWork::end_of_receive(std::uint32_t handle) {
  if (tap_ != nullptr) tap_->end_of_task(handle);
  ReplayTask& task = with_.tasks[handle];
  RankState& rank = with_.ranks[task.local];
  if (task.state == TaskState::kCombine) {
    rank.compute = after(rank.compute, with_.collectives.combine_duration(task));
    return finish_task(handle);
  }
  with_.work.count_received(rank, task.bytes);
  if (task.lane == kNone || !with_.collectives.combines(task)) return finish_task(handle);
  task.state = TaskState::kCombine;
  give_task(handle);
}

void CpuWork::finish_task(std::uint32_t task) {
  const ReplayTask done = with_.tasks[task];
  with_.tasks.remove(task);
  if (done.lane != kNone) {
    with_.collectives.finish_message(done.lane, done.op);
  } else {
    RankState& rank = with_.ranks[done.local];
    if (trails_ != nullptr) note_end(rank, rank.view.op(done.op));
    with_.work.finish_op(rank, done.op);
  }
}

// Seldom asked for.
[[gnu::noinline]] const goal::Op& CpuWork::op_at(const RankState& rank, const Cpu& cpu) const {
  return op_of(rank, cpu.current);
}

// It may end without work of a cpu.
void CpuWork::note_end(const RankState& rank, const goal::Op& op) {
  trails_->settle(op);
  if (Trails::is_first(rank, op.cpu)) trails_->end_pause(rank, with_.work.now());
}

// Throws the error again, with the operation that the work is for.
void CpuWork::refuse(const RankState& rank, std::uint32_t work, const InputError& error) const {
  if (dynamic_cast<const GraphError*>(&error) != nullptr) throw;
  goal::OpIndex op = work;
  if ((work & kTask) != 0) op = with_.open.op_of(with_.tasks[work & ~kTask]);
  throw GraphError(fmt::format("rank {}, operation {}: {}", rank.view.rank(), op, error.what()));
}

void CpuWork::expect(const RankState& rank, std::uint32_t index, int look) const {
  const Cpu& cpu = with_.cpus[index];
  if (look == 0) {
    __builtin_prefetch(&rank, 1);
    __builtin_prefetch(&rank.finish, 1);
    __builtin_prefetch(&cpu, 1);
    if (trails_ != nullptr) trails_->expect_cpu(index);
    return;
  }
  if (look == 2 && cpu.head < kTask) {  // the operation that the cpu takes up then
    __builtin_prefetch(rank.view.record(cpu.head));
    __builtin_prefetch(rank.words + cpu.head, 1);
  }
  if (cpu.current == kNone) return;
  if ((cpu.current & kTask) != 0) {
    const ReplayTask& task = with_.tasks[cpu.current & ~kTask];
    if (look == 1) __builtin_prefetch(&task, 1);
    if (look == 2 && task.lane != kNone) with_.open.expect_lane(task.lane, 0);
    return;
  }
  if (look == 1) {
    __builtin_prefetch(rank.view.record(cpu.current));
    __builtin_prefetch(rank.words + cpu.current, 1);
    return;
  }
  __builtin_prefetch(rank.view.dependents(cpu.current).data());
  // What comes next is mostly stored next.
  __builtin_prefetch(rank.view.dependents(cpu.current).data() + 4);
  __builtin_prefetch(rank.view.record(cpu.current) + 2);
  __builtin_prefetch(rank.view.record(cpu.current) + 4);
  __builtin_prefetch(rank.words + cpu.current + 4, 1);
}

}  // namespace weft::sim
