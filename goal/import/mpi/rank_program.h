// The program order of one rank while it is made: operations, what they wait for, and where each thread is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/mpi/notes.h"
#include "goal/import/mpi/thread_waits.h"
#include "goal/import/mpi/time_split.h"
#include "goal/import/mpi/trace_reader.h"

namespace weft::goal {

class RankProgram {
 public:
  static constexpr OpIndex kNone = Before::kNone;
  struct Thread {
    bool seen = false;
    bool polling = false;  // the last call was a Test or Iprobe in vain
    std::uint64_t last_leave_ns = 0;
    std::uint64_t pending_ns = 0;  // compute that is not yet an operation
    trace::OffCore off;            // of the time since last_leave_ns, as far as it was told
    Before point;                  // where the thread is in program order
    std::vector<Before> joins;     // and what else its next operation waits for
    std::uint64_t first_ns = 0;    // when it entered its first call, less what it waited for a core before
    std::uint64_t end_ns = UINT64_MAX;
  };

  // Takes only what the rank does in the region of this name; empty: all.
  RankProgram(std::uint64_t poll_gap_ns, ComputeTimes compute_times, const std::string& region,
              ImportNotes& notes)
      : poll_gap_ns_(poll_gap_ns),
        compute_times_(compute_times),
        region_(region),
        notes_(notes),
        inside_(region.empty() || region == trace::kPcontrolRegion ? 1 : 0) {}

  // The program begins or ends a region, before the next call.
  void region(const TraceRegionEvent& event);
  bool is_inside() const { return inside_ > 0; }
  // A thread has ended, before the next call: what thread 0 does next, and threads that begin later, wait for
  // it. With thread 0 the program has.
  void thread_ended(const TraceThreadEnd& end);

  // Can no two of them be in MPI at once, from now on?
  void threads_take_turns(bool they_do) { take_turns_ = they_do; }

  // Accounts for the time since the thread's last call.
  Thread& enter(const TraceRecord& record);
  // A call that no operation will stand for: what it takes is part of the time until the thread's next one.
  void passed_over(const TraceRecord& record);
  // To be called after a call of this thread was added: later threads may begin here.
  void left(const Thread& thread, const TraceRecord& record);
  // The time between calls becomes an operation.
  void flush(Thread& thread, std::uint16_t cpu);
  // Adds an operation that waits for all that the thread has waited for so far.
  OpIndex append(Thread& thread, const Op& op);
  // … and the thread goes on when it has finished, or, nonblocking, when it has started. These two leave out
  // what is outside of the region.
  void blocking(Thread& thread, const Op& op) {
    if (is_inside()) thread.point = {append(thread, op), false};
  }
  OpIndex nonblocking(Thread& thread, const Op& op);
  // The thread's next operation waits for `op` to finish.
  void join(Thread& thread, std::uint16_t cpu, OpIndex op);
  // Takes the thread by its number; it must have made a call.
  void join(std::uint32_t thread, OpIndex op) {
    join(threads_[thread], static_cast<std::uint16_t>(thread), op);
  }
  // Adds an operation that waits for all that the thread has done and for `after`; the thread goes on at
  // once.
  OpIndex append_after(std::uint32_t thread, const Op& op, std::span<const OpIndex> after);
  // Adds an operation that is in no thread's program order and waits for `before` alone.
  OpIndex append_beside(const Op& op, Before before);
  void add_edge(OpIndex first, OpIndex dependent) { edges_.push_back({first, dependent, false}); }
  // Leaves nothing of an operation but its place in the order.
  void erase(OpIndex op) { ops_[op] = {.kind = OpKind::kCalc, .cpu = ops_[op].cpu}; }
  Op& op(OpIndex index) { return ops_[index]; }
  Op collective(std::uint32_t thread, const Collective& collective);
  // Time between the end of MPI_Init and the start of MPI_Finalize, or of the last call; of a region the time
  // in it.
  std::uint64_t elapsed_ns() const;
  // Where the whole run begins and ends, on its host's clock.
  std::uint64_t begin_ns() const { return init_ns_; }
  std::uint64_t end_ns() const { return std::max(init_ns_, last_ns_); }
  // Tells where the first thread's time went.
  const TimeSplit& split() const { return split_; }
  std::size_t threads_at_once() const;
  // MPI_Init or its like has been left. False if it was not the first.
  bool initialized(std::uint64_t leave_ns) {
    if (std::exchange(initialized_, true)) return false;
    init_ns_ = region_begin_ns_ = leave_ns;
    return true;
  }

  // Hands all to the builder; does not end the rank. Counts wildcards, unless they are wanted.
  void finish(GraphBuilder& builder, bool keep_wildcards);

 private:
  struct EdgeRecord {
    OpIndex first, dependent;
    bool on_start;
  };
  // Where thread 0 was after a call, for threads that begin later.
  struct MainPoint {
    std::uint64_t leave_ns;
    ThreadWaits::Point point;
  };

  // A thread that has ended and that nothing is known to have waited for yet.
  struct Ended {
    std::uint64_t after_ns;          // the first call of those that it follows, or its own
    std::uint64_t first_ns, end_ns;  // its first call, and its end
    std::uint64_t process_cpu_ns;
    std::uint64_t threads = 1;  // it and those that it follows
    std::vector<Before> last;   // what it did last
  };

  Thread& thread(std::uint32_t number);
  void program_ended(const TraceThreadEnd& end);
  void follow_last(Thread& thread, const TraceRecord& record);
  bool has_ended_by(std::uint64_t at_ns) const;
  void join_ended(Thread& thread, std::uint64_t at_ns);
  std::uint64_t waited_for_ended(const Thread& thread, std::uint64_t at_ns, const trace::OffCore& off) const;
  bool follow_ended(Thread& thread, const TraceRecord& record, std::uint64_t since_ns);
  std::uint64_t after_wait(Thread& thread, const TraceRecord& record, const ThreadWaits::Wait& wait,
                           std::uint64_t gap);
  static trace::OffCore off_in(std::uint64_t gap, Thread& thread, const TraceRecord& record);
  bool fork(Thread& thread, const TraceRecord& record);
  OpIndex add(const Op& op);

  const std::uint64_t poll_gap_ns_;
  const ComputeTimes compute_times_;
  const std::string region_;
  ImportNotes& notes_;
  std::vector<Op> ops_;  // a collective's `value` is its index in collectives_
  std::vector<EdgeRecord> edges_;
  std::vector<Collective> collectives_;
  std::vector<Thread> threads_;
  std::vector<MainPoint> main_points_;
  std::vector<Ended> ended_;
  ThreadWaits waits_;
  bool initialized_ = false, take_turns_ = false;
  std::uint32_t last_thread_ = 0;  // that made a call
  std::uint64_t init_ns_ = 0, last_ns_ = 0;
  std::uint64_t inside_;  // how often the region was begun and not ended
  std::uint64_t region_begin_ns_ = 0, region_ns_ = 0;
  TimeSplit split_;
};

}  // namespace weft::goal
