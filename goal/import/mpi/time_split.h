// Where the time of a rank's first thread went, as its trace has it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tracer/format/format.h"

namespace weft::goal {

// What the time between two calls becomes.
enum class ComputeTimes : std::uint8_t {
  kAuto,  // the time that passed, less that in which the thread was ready and had no core
  kWall,  // the time that passed
  kCpu,   // the time on a core: less what it slept too
};

// How much of the time between calls is no compute.
inline std::uint64_t not_compute_ns(ComputeTimes policy, const trace::OffCore& off) {
  return policy == ComputeTimes::kWall ? 0 : policy == ComputeTimes::kCpu ? off.sum() : off.waiting_ns;
}

// What a file tells beyond the time that passed is not believed.
inline trace::OffCore at_most(trace::OffCore off, std::uint64_t passed_ns) {
  off.waiting_ns = std::min(off.waiting_ns, passed_ns);
  off.asleep_ns = std::min(off.asleep_ns, passed_ns - off.waiting_ns);
  return off;
}

// The three add up to the time that passed.
struct TimeSplit {
  std::uint64_t gaps_ns = 0;     // between calls, and in calls that no operation stands for
  std::uint64_t polling_ns = 0;  // between calls that poll
  std::uint64_t calls_ns = 0;    // in the calls that are replayed
  // How much of gaps and calls the thread did not run for.
  trace::OffCore gaps_off, calls_off;
  // So much of the gaps became compute.
  std::uint64_t compute_ns = 0;

  void add_gap(std::uint64_t passed_ns, std::uint64_t of_it_compute_ns, const trace::OffCore& off) {
    gaps_ns += passed_ns;
    compute_ns += of_it_compute_ns;
    gaps_off += off;
  }
};

}  // namespace weft::goal
