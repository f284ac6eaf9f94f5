// What may end a run before its events do: limits, interrupts, and whoever shows how far it is.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>

#include "sim/units/quantity.h"

namespace weft::sim {

// Why a run ended before its events did.
enum class StopReason : std::uint8_t { kNone, kInterrupt, kTimeLimit, kEventLimit, kMemoryLimit, kDeadlock };

// Asked now and then whether to go on; also where progress is shown. The engine itself reads no clock.
class RunControl {
 public:
  // Where a run ends for certain, whatever its partitions and threads: no event after `time` is executed, and
  // no more than `events`.
  struct Bounds {
    Time time = Time::max();
    std::uint64_t events = std::numeric_limits<std::uint64_t>::max();
  };

  RunControl() = default;
  explicit RunControl(const Bounds& bounds) : bounds_(bounds) {}
  virtual ~RunControl() = default;
  // The simulation is built and starts now; `fraction` tells how much of its work is done, from 0 to 1, and
  // may be called until end().
  virtual void begin(std::function<double()> /*fraction*/) {}
  virtual void end() {}
  // Called every kPollInterval events, and before the next event once it is asked for; by one thread.
  virtual StopReason poll(Time now, std::uint64_t events) = 0;
  static constexpr std::uint64_t kPollInterval = 1 << 16;

  // Will the process end soon, so that nobody needs to give memory back?
  virtual bool process_ends() const { return false; }
  const Bounds& bounds() const { return bounds_; }
  // The run may go on to its end. While nothing runs.
  void lift_bounds() { bounds_ = Bounds(); }
  // Then a model runs in one partition: only there is it known which events come first.
  bool counts_events() const { return bounds_.events != Bounds().events; }
  // Asks for a poll soon, from any thread or a signal handler.
  void ask_poll() { asked_.store(true, std::memory_order_relaxed); }
  // Looked at before every event.
  const std::atomic<bool>& asked() const { return asked_; }
  // Polls for whoever runs events, which answers ask_poll().
  StopReason answer(Time now, std::uint64_t events) {
    asked_.store(false, std::memory_order_relaxed);
    return poll(now, events);
  }

 private:
  Bounds bounds_;
  std::atomic<bool> asked_ = false;
};

// Asks a control in time, for a loop that executes events in pieces.
class RunWatch {
 public:
  // `executed`: events so far.
  RunWatch(RunControl& control, std::uint64_t executed) : control_(control), polled_at_(executed) {}

  // Before events are executed, of which none is before `now`: may they be? Then *limit, before which they
  // are, is lowered to where the run ends, but not to `now` or less. Throws InputError past kEndOfTime.
  StopReason before(Time now, std::uint64_t executed, Time* limit) {
    const RunControl::Bounds& bounds = control_.bounds();
    if (now > bounds.time) return StopReason::kTimeLimit;
    if (executed >= bounds.events) return StopReason::kEventLimit;
    if (now > kEndOfTime) [[unlikely]]
      fail_past_end_of_time();
    *limit = std::min(*limit, kEndOfTime + Time::ps(1));
    if (bounds.time < Time::max()) *limit = std::min(*limit, bounds.time + Time::ps(1));
    if (executed - polled_at_ < RunControl::kPollInterval &&
        !control_.asked().load(std::memory_order_relaxed)) {
      return StopReason::kNone;
    }
    polled_at_ = executed;
    return control_.answer(now, executed);
  }
  // Where much is to be done at a moment: the answer to who has asked to stop by now.
  StopReason if_asked(Time now, std::uint64_t executed) {
    return control_.asked().load(std::memory_order_relaxed) ? control_.answer(now, executed)
                                                            : StopReason::kNone;
  }
  // As many may be executed until it is asked again.
  std::uint64_t most(std::uint64_t executed) const {
    return std::min(RunControl::kPollInterval, control_.bounds().events - executed);
  }

 private:
  RunControl& control_;
  std::uint64_t polled_at_;
};

}  // namespace weft::sim
