// The messages under way of a share that need more than their operation tells.
#pragma once

#include <cstdint>

#include "sim/replay/rank_state.h"
#include "sim/units/large_pages.h"

namespace weft::sim {

enum class TaskState : std::uint8_t {
  kFree,
  kAwaitClear,
  kSending,
  kAwaitData,
  kReceiveCpu,
  kTrain,    // the sends of one step of a collective; bytes and peer are those of its next message
  kCombine,  // a received message is combined with local data, or data are copied within the rank
};

// A task is of a rendezvous, of an operation that gets other bytes than it asks for, or (lane != kNone) of a
// step of a collective.
struct ReplayTask {
  static constexpr std::uint32_t kNone = RankState::kNone;
  // The message has so many; while its data come, so many are there; while they are sent, so many are not yet
  // handed over.
  std::uint64_t bytes = 0;
  std::uint32_t local = 0, op = 0, lane = kNone;  // op: in a lane, the step
  std::uint32_t peer = 0;                         // a rank
  // At its cpu, or in the free list; while data are sent, the pieces that the network has.
  std::uint32_t next = kNone;
  std::uint8_t nic = 0;
  TaskState state = TaskState::kFree;
  std::uint16_t connection = 0;  // of those between the two ranks
};
static_assert(sizeof(ReplayTask) == 32);

// They go by handles. References are good until the next add().
class ReplayTasks {
 public:
  static constexpr std::uint32_t kNone = ReplayTask::kNone;

  ReplayTask& operator[](std::uint32_t task) { return tasks_[task]; }
  const ReplayTask& operator[](std::uint32_t task) const { return tasks_[task]; }
  std::uint32_t add(const ReplayTask& task) {
    if (free_ == kNone) {
      tasks_.push_back(task);
      return static_cast<std::uint32_t>(tasks_.size() - 1);
    }
    const std::uint32_t handle = free_;
    free_ = tasks_[handle].next;
    if (free_ != kNone) __builtin_prefetch(&tasks_[free_], 1);
    tasks_[handle] = task;
    return handle;
  }
  void remove(std::uint32_t task) {
    tasks_[task].state = TaskState::kFree;
    tasks_[task].next = free_;
    free_ = task;
  }
  // All that ever were; those that were removed are kFree.
  const LargeVector<ReplayTask>& all() const { return tasks_; }
  std::uint64_t memory_bytes() const { return tasks_.capacity() * sizeof(ReplayTask); }

 private:
  LargeVector<ReplayTask> tasks_;
  std::uint32_t free_ = kNone;
};

}  // namespace weft::sim
