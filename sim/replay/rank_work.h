// What the work of a share's ranks takes and counts, and what it is the end of.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/replay/progress.h"
#include "sim/replay/rank_state.h"
#include "sim/replay/replay.h"
#include "sim/replay/replay_plan.h"
#include "sim/replay/trails.h"
#include "sim/units/input_error.h"

namespace weft::sim {

// The bytes of all messages are summed up in 64 bits.
inline constexpr const char* kTooManyBytes = "the messages sent have more than 2^64 bytes in all";

// Gives a task to the cpu of its operation, which begins it at once if it is idle, and ends it if it takes no
// time.
class TaskGiver {
 public:
  virtual void give_task(std::uint32_t task) = 0;

 protected:
  ~TaskGiver() = default;
};

class RankWork {
 public:
  // The events that ranks schedule for themselves.
  enum EventKind : std::uint16_t {
    kRankStart = kClientKinds,
    kCpuDone,      // payload: cpu; its current work has ended
    kLaneDone,     // payload: lane; its own processor has done the work before its next messages
    kMessageReady  // payload: place of a message that was held; it goes to the NIC
  };
  // What a cpu works on is named by the operation (a calc, a send, or a receive that has its message), or by
  // kTask + the task.
  static constexpr std::uint32_t kTask = 1u << 31;

  RankWork(const ReplayPlan& plan, Engine& engine, Progress& progress, TaskGiver& giver)
      : hosts_(plan.hosts),
        first_entity_(plan.first_entity),
        engine_(engine),
        progress_(progress),
        giver_(giver),
        overhead_(plan.hosts.overhead),
        copied_bytes_(plan.hosts.copy_per_byte == TimePerByte()
                          ? 0
                          : std::min(plan.hosts.eager_limit_bytes, plan.hosts.collective_limit_bytes)),
        has_overhead_per_byte_(copied_bytes_ > 0 || !(plan.hosts.overhead_per_byte == TimePerByte())) {}
  void keep_trails(Trails& trails) { trails_ = &trails; }

  Time now() const { return engine_.now(); }
  void give_task(std::uint32_t task) { giver_.give_task(task); }
  // Gives the cpu time of sending or receiving a message.
  Time overhead(std::uint64_t bytes) const {
    if (!has_overhead_per_byte_) return overhead_;
    const Time overhead = after(overhead_, hosts_.overhead_per_byte.after_first(bytes));
    return bytes <= copied_bytes_ ? after(overhead, hosts_.copy_per_byte.of(bytes)) : overhead;
  }
  void count_received(RankState& rank, std::uint64_t bytes) {
    rank.overhead = after(rank.overhead, overhead(bytes));
    ++rank.messages_received;
    rank.bytes_received += bytes;
  }
  // Throws InputError if all have too many bytes.
  void count_sent(RankState& rank, std::uint64_t bytes) {
    rank.overhead = after(rank.overhead, overhead(bytes));
    ++rank.messages_sent;
    rank.bytes_sent += bytes;
    if (__builtin_add_overflow(bytes_, bytes, &bytes_)) throw InputError(kTooManyBytes);
  }
  // An event of the rank's own, so long from now.
  void schedule(RankState& rank, Time duration, EventKind kind, std::uint32_t payload) {
    engine_.schedule_counted(after(engine_.now(), duration), first_entity_ + rank.view.rank(),
                             rank.scheduled++, kind, payload);
  }
  void finish_op(RankState& rank, goal::OpIndex op) {
    rank.finish = engine_.now();
    if (rank.ops_done + 1 == rank.view.ops() && trails_ != nullptr) [[unlikely]] {
      trails_->finish(rank, rank.finish);
    }
    progress_.finish(rank, op);
  }

  std::uint64_t bytes_sent() const { return bytes_; }

 private:
  const HostConfig& hosts_;
  const EntityId first_entity_;
  Engine& engine_;
  Progress& progress_;
  TaskGiver& giver_;
  Trails* trails_ = nullptr;          // null: nobody asks what the time of a run consists of
  const Time overhead_;               // o
  const std::uint64_t copied_bytes_;  // messages of so many at most go by buffers of the library
  const bool has_overhead_per_byte_;
  std::uint64_t bytes_ = 0;  // of all messages sent
};

}  // namespace weft::sim
