// What the cpus of a share's ranks do: calcs, sends and receives of the graph, and tasks.
#pragma once

#include <cstdint>

#include "goal/graph/graph.h"
#include "sim/core/engine.h"
#include "sim/replay/collectives.h"
#include "sim/replay/cpus.h"
#include "sim/replay/open_collectives.h"
#include "sim/replay/overlap.h"
#include "sim/replay/point_to_point.h"
#include "sim/replay/progress.h"
#include "sim/replay/rank_state.h"
#include "sim/replay/rank_work.h"
#include "sim/replay/tasks.h"
#include "sim/replay/trails.h"
#include "sim/units/input_error.h"
#include "sim/units/large_pages.h"

namespace weft::sim {

class TimelineTap;

// What a cpu is given, and what comes of its work.
struct CpuServices {
  LargeVector<RankState>& ranks;
  Progress& progress;
  Cpus& cpus;
  RankWork& work;
  ReplayTasks& tasks;
  OpenCollectives& open;
  PointToPoint& point_to_point;
  Collectives& collectives;
};

// An idle cpu takes up what it is given at once, and what takes no time is done at once. Work that is too
// long, or has too many bytes, is a GraphError that names its operation.
class CpuWork final : public TaskGiver {
 public:
  explicit CpuWork(const CpuServices& services) : with_(services) {}
  void keep_trails(Trails& trails) { trails_ = &trails; }
  void set_tap(TimelineTap& tap) { tap_ = &tap; }
  void slow_down(Overlap& overlap) { overlap_ = &overlap; }

  // A calc or a send that may begin, or a receive with what there is to do for it, to its cpu.
  void give_op(RankState& rank, goal::OpIndex op) { give_for(rank, op, op); }
  void give_for(RankState& rank, goal::OpIndex op, std::uint32_t work) {
    give(rank, with_.cpus.of(rank, rank.view.op(op).cpu), work);
  }
  void give_task(std::uint32_t task) override;
  // The present work of a cpu of this rank has ended: it goes on with what waits.
  void on_done(RankState& rank, std::uint32_t index) {
    Cpu& cpu = with_.cpus[index];
    if (trails_ != nullptr) {
      index == rank.first_cpu ? trails_->at_first_cpu(index)
                              : trails_->at_cpu(index, op_of(rank, cpu.current));
    }
    if (overlap_ != nullptr && goes_on_with_calc(rank, index)) return;
    bool goes_on = false;
    try {
      goes_on = end_work(rank, cpu);
    } catch (const InputError& error) {
      refuse(rank, cpu.current, error);
    }
    if (goes_on) return;
    cpu.current = kNone;
    take_up(rank, cpu);
  }
  // The time of what it works on is over, but collectives have slowed it down.
  bool is_slowed(const RankState& rank, std::uint32_t index) const {
    return overlap_ != nullptr && lost(rank, with_.cpus[index]) > Time();
  }
  // What the task is for has been done, by a cpu or elsewhere.
  void finish_task(std::uint32_t task);
  // Fetches into the cache what on_done() will look at.
  void expect(const RankState& rank, std::uint32_t cpu, int look) const;

 private:
  static constexpr std::uint32_t kNone = RankState::kNone, kTask = RankWork::kTask;

  std::uint32_t& next_work(const RankState& rank, std::uint32_t work) {
    return (work & kTask) == 0 ? rank.words[work] : with_.tasks[work & ~kTask].next;
  }
  // Queues work at a cpu; an idle one takes it up at once.
  void give(RankState& rank, std::uint32_t index, std::uint32_t work) {
    Cpu& cpu = with_.cpus[index];
    if (cpu.is_idle()) {
      if (!begin_work(rank, cpu, work)) take_up(rank, cpu);
      return;
    }
    cpu.queue(work, [&](std::uint32_t other) -> std::uint32_t& { return next_work(rank, other); });
  }
  void take_up(RankState& rank, Cpu& cpu);
  // True if the cpu is busy with it from now on.
  bool begin_work(RankState& rank, Cpu& cpu, std::uint32_t work) {
    cpu.current = work;
    try {
      bool computes = false;
      const Time duration = start_of_work(rank, work, computes);
      if (duration > Time()) [[likely]] {
        if (overlap_ != nullptr)
          overlap_->begin_calc(local_of(rank), with_.cpus.index(cpu), with_.work.now());
        schedule_done(rank, cpu, duration, computes);
        return true;
      }
      if (trails_ != nullptr) note_instant(rank, cpu, work);
      if (end_work(rank, cpu)) return true;
    } catch (const InputError& error) {
      refuse(rank, work, error);
    }
    cpu.current = kNone;
    return false;
  }
  void schedule_done(RankState& rank, const Cpu& cpu, Time duration, bool computes) {
    const std::uint32_t index = with_.cpus.index(cpu);
    if (trails_ != nullptr) {
      trails_->on_cpu(rank, index, duration, computes, with_.work.now(),
                      [&]() -> const goal::Op& { return op_at(rank, cpu); });
    }
    with_.work.schedule(rank, duration, RankWork::kCpuDone, index);
  }
  bool goes_on_with_calc(RankState& rank, std::uint32_t index);
  Time lost(const RankState& rank, const Cpu& cpu) const {
    const bool calc = (cpu.current & kTask) == 0 && rank.view.op(cpu.current).kind == goal::OpKind::kCalc;
    return calc ? overlap_->lost(local_of(rank), with_.cpus.index(cpu), with_.work.now()) : Time();
  }
  std::uint32_t local_of(const RankState& rank) const {
    return static_cast<std::uint32_t>(&rank - with_.ranks.data());
  }
  // Work that takes no time.
  void note_instant(const RankState& rank, const Cpu& cpu, std::uint32_t work) {
    if (trails_->is_open()) trails_->settle(op_of(rank, work));
    if (with_.cpus.index(cpu) == rank.first_cpu) trails_->end_pause(rank, with_.work.now());
  }
  void note_end(const RankState& rank, const goal::Op& op);
  // The operation that the work is for.
  const goal::Op& op_of(const RankState& rank, std::uint32_t work) const {
    return rank.view.op((work & kTask) == 0 ? work : with_.open.op_of(with_.tasks[work & ~kTask]));
  }
  const goal::Op& op_at(const RankState& rank, const Cpu& cpu) const;
  static Time calc_duration(std::uint64_t ns) {
    return ns > static_cast<std::uint64_t>(Time::max().ps()) / 1000 ? Time::max()
                                                                    : Time::ns(static_cast<std::int64_t>(ns));
  }
  // Returns how long it takes. `computes` is false before.
  Time start_of_work(RankState& rank, std::uint32_t work, bool& computes) {
    if ((work & kTask) != 0) return start_of_task(with_.tasks[work & ~kTask], computes);
    const goal::Op& op = rank.view.op(work);
    if (op.kind == goal::OpKind::kRecv) return with_.work.overhead(op.value);
    computes = op.kind != goal::OpKind::kSend;
    const Time duration = computes ? calc_duration(op.value) : with_.work.overhead(op.value);
    with_.progress.start(rank, work);  // may move the operation
    return duration;
  }
  Time start_of_task(ReplayTask& task, bool& computes) {
    computes = task.state == TaskState::kCombine;
    if (computes) return with_.collectives.combine_duration(task);
    if (task.state == TaskState::kTrain) with_.collectives.begin_train(task);
    return with_.work.overhead(task.bytes);
  }
  bool end_work(RankState& rank, Cpu& cpu);
  bool end_of_task(RankState& rank, const Cpu& cpu, std::uint32_t task);
  void end_of_receive(std::uint32_t task);
  [[noreturn]] void refuse(const RankState& rank, std::uint32_t work, const InputError& error) const;

  TimelineTap* tap_ = nullptr;  // null: nobody records what it does
  Trails* trails_ = nullptr;    // null: nobody asks what its time consists of
  Overlap* overlap_ = nullptr;  // null: collectives slow nothing down
  CpuServices with_;
};

// The cpu is free: it takes up what waits.
inline void CpuWork::take_up(RankState& rank, Cpu& cpu) {
  while (cpu.has_waiting()) {
    const std::uint32_t work =
        cpu.take([&](std::uint32_t other) -> std::uint32_t& { return next_work(rank, other); });
    if (begin_work(rank, cpu, work)) return;
  }
}

// True if the cpu goes on with what it works on: with the next message of a train.
inline bool CpuWork::end_work(RankState& rank, Cpu& cpu) {
  const std::uint32_t work = cpu.current;
  if ((work & kTask) != 0) return end_of_task(rank, cpu, work & ~kTask);
  const goal::Op& op = rank.view.op(work);
  if (op.kind == goal::OpKind::kSend) {
    with_.work.count_sent(rank, op.value);
    if (!with_.point_to_point.send(rank, work)) [[unlikely]]
      return false;
  } else if (op.kind == goal::OpKind::kCalc) {
    rank.compute = after(rank.compute, calc_duration(op.value));
  } else {
    with_.work.count_received(rank, op.value);
  }
  with_.work.finish_op(rank, work);
  return false;
}

}  // namespace weft::sim
