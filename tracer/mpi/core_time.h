// How long a thread did not run: its processor time beside the time that passed.
//
// Reading a thread's processor time is a call of the system, so it is done only at the end of what took long.
// What is short cannot hide a loss of the core: the system takes it away for milliseconds. So between two
// readings there is one long stretch at most, and what the thread did not run for lies in that.
#pragma once

#include <cstdint>

#include "tracer/format/format.h"

namespace weft::trace {

// A gap between two calls, or a call, that ends with a reading.
inline constexpr std::uint64_t kLongNs = 50'000;
// A reading without one, so that interrupts and the like don't add up.
inline constexpr std::uint64_t kReadingEveryNs = 1'000'000;

// Each thread has its own, which it alone uses.
class CoreTime {
 public:
  // From now on; `now_ns` is CLOCK_MONOTONIC.
  void begin(std::uint64_t now_ns);
  bool begun() const { return read_ns_ != 0; }
  // What the thread waited for a core before begin(), since it was created; nothing where that isn't known.
  OffCore before() const {
    return knows_waiting_ && waited_ns_ >= kLeastOffCoreNs ? OffCore{waited_ns_, 0} : OffCore{};
  }

  // The thread enters a call. What it did not run for since it left the last one.
  OffCore enter(std::uint64_t now_ns) {
    const bool is_long = now_ns - left_ns_ >= kLongNs;
    if (!is_long && now_ns - read_ns_ < kReadingEveryNs) return {};
    const OffCore off = reading(now_ns);
    return is_long ? off : OffCore{};
  }
  // It leaves a call that it entered at `enter_ns`. What it did not run for in it.
  OffCore leave(std::uint64_t enter_ns, std::uint64_t now_ns) {
    left_ns_ = now_ns;
    return now_ns - enter_ns >= kLongNs ? reading(now_ns) : OffCore{};
  }
  // The call was left later than leave() was told, which is what reading took.
  void left_at(std::uint64_t now_ns) { left_ns_ = now_ns; }

 private:
  OffCore reading(std::uint64_t now_ns);

  std::uint64_t left_ns_ = 0;
  std::uint64_t read_ns_ = 0, cpu_ns_ = 0;  // at the last reading
  std::uint64_t waited_ns_ = 0;             // or, where that isn't known, voluntary switches
  bool knows_waiting_ = false;
};

// CLOCK_THREAD_CPUTIME_ID.
std::uint64_t thread_cpu_ns();
// CLOCK_PROCESS_CPUTIME_ID.
std::uint64_t process_cpu_ns();
// Nanoseconds that the calling thread was ready and had no core, since it began; 0 where the system doesn't
// say.
std::uint64_t thread_waited_ns();

}  // namespace weft::trace
