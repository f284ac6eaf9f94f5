#include "goal/import/mpi/thread_waits.h"

#include <algorithm>

namespace weft::goal {
namespace {

constexpr std::size_t kMostCalls = 65'536;
// Sleeping and waking takes some of it, and less than this is not told by traces.
constexpr std::uint64_t kLeastNs = 10'000;

}  // namespace

void ThreadWaits::add(std::uint32_t thread, std::uint64_t enter_ns, std::uint64_t leave_ns,
                      const Point& point) {
  if (calls_.size() == kMostCalls) calls_.pop_front();
  calls_.push_back({enter_ns, leave_ns, thread, point});
}

ThreadWaits::Wait ThreadWaits::of(std::uint32_t thread, std::uint64_t from_ns, std::uint64_t to_ns,
                                  std::uint64_t asleep_ns) const {
  Wait wait;
  if (asleep_ns < kLeastNs) return wait;
  // From the last one back: what lies before `low` hasn't been counted yet.
  std::uint64_t low = to_ns;
  for (auto call = calls_.rbegin(); call != calls_.rend() && call->leave_ns > from_ns; ++call) {
    if (call->thread == thread) continue;
    const std::uint64_t begin = std::max(call->enter_ns, from_ns), end = std::min(call->leave_ns, low);
    if (begin < end) wait.ns += end - begin;
    low = std::min(low, begin);
    // The last that it may have waited for: it went on after that.
    if (wait.end_ns == 0 && call->leave_ns <= to_ns) {
      wait.end_ns = call->leave_ns;
      wait.point = call->point;
    }
  }
  if (wait.end_ns == 0 || wait.ns < kLeastNs || asleep_ns < wait.ns - wait.ns / 10) return {};
  return wait;
}

}  // namespace weft::goal
