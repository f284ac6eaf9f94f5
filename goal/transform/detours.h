// A cpu from which something else takes time now and then.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::goal {

struct Detour {
  std::uint64_t start_ns = 0, length_ns = 0;
};

// Detours that repeat: each takes the cpu for its length, and what was computing waits. Times are integers,
// so nothing drifts.
class Detours {
 public:
  // REQUIRES: sorted by start, none reaches into the next one or past `cycle_ns`, together shorter than it.
  Detours(std::vector<Detour> detours, std::uint64_t cycle_ns);

  // When work of `ns` that begins at `now_ns` ends. Work that ends just where a detour begins does not wait
  // for it; work of no length takes none. Time in the number of detours, whatever the length of the work.
  // REQUIRES: check_work(ns); now_ns < cycle_ns().
  std::uint64_t end_of_work(std::uint64_t now_ns, std::uint64_t ns) const;
  // Throws InputError for work that may end after more than 2^62 ns.
  void check_work(std::uint64_t ns) const;
  std::uint64_t cycle_ns() const { return cycle_ns_; }

 private:
  std::vector<Detour> detours_;
  std::uint64_t cycle_ns_, work_per_cycle_ns_;
};

}  // namespace weft::goal
