// Which calls of a rank's other threads a thread has slept through, and so has most likely waited for: at a
// barrier of OpenMP's, for a mutex, for a flag. Their time is the network's and not compute.
#pragma once

#include <cstdint>
#include <deque>

#include "goal/graph/graph.h"

namespace weft::goal {

// Something of a rank that must have finished or (on_start) started.
struct Before {
  static constexpr OpIndex kNone = 0xFFFFFFFFu;
  OpIndex op = kNone;
  bool on_start = false;
};

class ThreadWaits {
 public:
  // Where a thread was after a call: in program order, and what it waits for last.
  struct Point {
    Before at, joined;
  };
  struct Wait {
    std::uint64_t ns = 0;      // how long other threads were in those calls; 0: it didn't wait
    std::uint64_t end_ns = 0;  // when the last one was left
    Point point;               // after it
  };

  // To be told in the order in which calls are left. What is older than the last 65,536 is forgotten.
  void add(std::uint32_t thread, std::uint64_t enter_ns, std::uint64_t leave_ns, const Point& point);
  // Returns what a thread has waited for that made no call between these times, and slept for so long of
  // them: for others if it slept for as long as they were in calls, but for a tenth. Who computes beside them
  // has not.
  Wait of(std::uint32_t thread, std::uint64_t from_ns, std::uint64_t to_ns, std::uint64_t asleep_ns) const;

 private:
  struct Call {
    std::uint64_t enter_ns, leave_ns;
    std::uint32_t thread;
    Point point;
  };
  std::deque<Call> calls_;
};

}  // namespace weft::goal
