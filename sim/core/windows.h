// Runs partitions side by side in windows of simulated time that no message can cross.
//
// Source: conservative synchronous simulation with lookahead: K. M. Chandy, J. Misra, IEEE TSE 5(5), 1979;
// B. Lubachevsky, CACM 32(1), 1989 (bounded lag).
#pragma once

#include <cstdint>

#include "sim/core/engine.h"
#include "sim/units/quantity.h"

namespace weft::sim {

// What run_windows() drives. In a window all partitions execute what lies before its end; what one has for
// another lies at or after the end, waits in a mailbox, and is taken in at the start of the next window.
// Results can't depend on which thread runs which partition, nor when.
class Partitioned {
 public:
  virtual ~Partitioned() = default;
  virtual std::uint32_t partitions() const = 0;
  // Takes in the mail of the last window, then executes events before `limit` (it may stop earlier). Returns
  // the time of the partition's next event or of the earliest mail it has sent in this window, whichever is
  // less; Time::max() if there is neither. `window` counts from 0. Called by one thread at a time for one
  // partition, for several partitions at once.
  virtual Time run_window(std::uint32_t partition, std::uint32_t window, Time limit) = 0;
  // Events executed so far, by all partitions. Called between windows.
  virtual std::uint64_t events_executed() const = 0;
  // Between windows, while no partition runs: nothing will happen before `now`. May shorten the next window
  // by lowering *limit to no less than now + 1 ps. Anything but kNone ends the run.
  virtual StopReason between_windows(Time now, Time* limit) = 0;
};

// Runs until nothing is left or between_windows() says stop. `first`: the earliest event. `lookahead`: mail
// is never due earlier than this after the event that sends it; above 0. Uses `threads` threads, this one
// included, and no more than there are partitions; while there is little to do in a window, this one alone,
// as waiting for each other would take longer. An exception ends the run and comes out here: that of the
// partition with the least number, if there are several. Throws std::system_error if the system gives no more
// threads.
StopReason run_windows(Partitioned& run, Time first, Time lookahead, std::uint32_t threads);

}  // namespace weft::sim
