#include "goal/transform/detours.h"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::goal {

Detours::Detours(std::vector<Detour> detours, std::uint64_t cycle_ns)
    : detours_(std::move(detours)), cycle_ns_(cycle_ns), work_per_cycle_ns_(cycle_ns) {
  for (const Detour& detour : detours_) work_per_cycle_ns_ -= detour.length_ns;
}

void Detours::check_work(std::uint64_t ns) const {
  const unsigned __int128 cycles = ns / work_per_cycle_ns_ + 2;
  if (cycles * cycle_ns_ > std::uint64_t{1} << 62) {
    throw InputError("a calc of " + std::to_string(ns) + " ns, with noise, is longer than 2^62 ns");
  }
}

std::uint64_t Detours::end_of_work(std::uint64_t now_ns, std::uint64_t ns) const {
  if (ns == 0) return now_ns;
  // Whole cycles first; something is left to do, so that the end falls on the end of work.
  const std::uint64_t cycles = (ns - 1) / work_per_cycle_ns_;
  std::uint64_t left = ns - cycles * work_per_cycle_ns_;
  std::uint64_t base = now_ns - now_ns % cycle_ns_ + cycles * cycle_ns_;
  std::uint64_t at = now_ns % cycle_ns_;
  auto next = std::upper_bound(detours_.begin(), detours_.end(), at,
                               [](std::uint64_t t, const Detour& detour) { return t < detour.start_ns; });
  if (next != detours_.begin()) at = std::max(at, (next - 1)->start_ns + (next - 1)->length_ns);
  for (;;) {
    const std::uint64_t room = (next == detours_.end() ? cycle_ns_ : next->start_ns) - at;
    if (left <= room) return base + at + left;
    left -= room;
    if (next == detours_.end()) {
      base += cycle_ns_;
      at = 0;
      next = detours_.begin();
    } else {
      at = next->start_ns + next->length_ns;
      ++next;
    }
  }
}

}  // namespace weft::goal
