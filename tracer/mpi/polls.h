// Tests and probes in vain that come one after the other: most of them are counted without a look at the
// clock, which costs as much as such a call itself.
//
// Only where no two threads can be in MPI at once. The first two are timed, then the 16th behind them, the
// 32nd and so on, so that few are in the end, as long as each comes when it would if all between took what
// those before did; a row with a longer pause in it counts as two, with the pause between them.
#pragma once

#include <cstdint>

#include "tracer/format/format.h"
#include "tracer/mpi/locked.h"

namespace weft::trace {

// What a poll asks for; polls of equal kinds come to one record.
constexpr std::uint64_t kNoPolls = 0;
constexpr std::uint64_t kPollsOfRequests = 1;
constexpr std::uint64_t poll_kind(std::uint64_t comm, std::int32_t peer, std::int32_t tag) {
  const std::uint64_t hash = (comm * 0x9E3779B97F4A7C15u) ^
                             (static_cast<std::uint64_t>(static_cast<std::uint32_t>(peer)) << 32) ^
                             static_cast<std::uint32_t>(tag);
  return hash <= kPollsOfRequests ? hash + 2 : hash;
}

inline bool is_test(std::uint32_t function) {
  const Shape shape = function_info(static_cast<Function>(function)).shape;
  return shape == Shape::kComplete || shape == Shape::kStatus;
}

// Whichever way requests are tested, it is one wait.
inline bool same_polls(const PendingPolls& a, const PendingPolls& b) {
  const bool requests = is_test(a.function) && is_test(b.function);
  return (requests || (a.function == b.function && a.given == b.given)) && a.thread == b.thread &&
         a.comm_plus_1 == b.comm_plus_1 && a.peer == b.peer && a.tag == b.tag;
}

class UntimedPolls {
 public:
  // Need the next poll of this thread not be timed?
  [[gnu::always_inline]] bool go_on(std::uint64_t kind) const { return next_ == key(kind); }
  // It is begun by a thread that is nowhere, and ended again. False if that is inside of something.
  [[gnu::always_inline]] bool enter() const {
    if (!here_->nowhere()) return false;
    here_->enter_first_call();
    return true;
  }
  [[gnu::always_inline]] void leave() const { here_->leave_first_call(); }
  // It was in vain. False where others came between, from a function that the library has called back: then
  // it is not counted. Who looks at a program that hangs sees it in the file's live block.
  [[gnu::always_inline]] bool count() {
    const std::uint64_t calls = polls_->calls + 1;
    if (calls >= timed_) [[unlikely]] {
      if (timed_ == 0) return false;
      next_ = 0;
    }
    __atomic_store_n(&polls_->calls, calls, __ATOMIC_RELEASE);
    return true;
  }
  // How long one takes inside MPI.
  std::uint64_t inside_ns() const { return inside_ns_; }

  // Gives those that were counted in `polls` their time, up to `until_ns` at most. The next one is timed.
  void join(PendingPolls& polls, std::uint64_t until_ns) {
    give_time(polls, until_ns);
    stop();
    untimed_ = kUntimed;
  }
  // The next one is timed, and those that were counted don't matter.
  void stop() { next_ = timed_ = 0; }
  // A timed one that comes within this time after the last timed one follows it, and those counted between.
  std::uint64_t longest_ns(std::uint64_t longest_gap_ns) const {
    const std::uint64_t polls = counted() + 1;
    if (polls == 1) return longest_gap_ns;
    return (polls + (polls <= kUntimed ? polls : kUntimed + 1)) * period_ns_ + longest_gap_ns;
  }
  // It does, is the last of `polls` but for being counted there, and took so long; the last timed one was
  // left `period_ns` before it was, for all that were counted between, which get the time up to `until_ns`.
  void follows(std::uint64_t kind, std::uint64_t period_ns, std::uint64_t inside_ns, PendingPolls& polls,
               std::uint64_t until_ns) {
    const std::uint64_t between = counted();
    period_ns_ = period_ns / (between + 1);
    inside_ns_ = inside_ns;
    give_time(polls, until_ns);
    stop();
    if (kind == kNoPolls) return;
    if (between == untimed_ && between < kMostUntimed && 2 * between * period_ns_ < kLongestUntimedNs)
      untimed_ = 2 * between + 1;
    polls_ = &polls;
    here_ = &here;
    next_ = key(kind);
    begun_ = polls.calls + 1;
    timed_ = begun_ + untimed_;
  }

 private:
  // Between two timed ones: at first, and for how many and for how long where all goes on alike.
  static constexpr std::uint64_t kUntimed = 15, kMostUntimed = 255, kLongestUntimedNs = 8000;

  // The thread and what it asks for, in one comparison: threads lie further apart than small kinds, and the
  // others are hashes.
  [[gnu::always_inline]] static std::uint64_t key(std::uint64_t kind) {
    return reinterpret_cast<std::uint64_t>(__builtin_thread_pointer()) + kind;
  }
  std::uint64_t counted() const { return timed_ == 0 ? 0 : polls_->calls - begun_; }
  void give_time(PendingPolls& polls, std::uint64_t until_ns) const {
    const std::uint64_t count = counted();
    if (count == 0) return;
    std::uint64_t leave_ns = polls.leave_ns + count * period_ns_;
    if (leave_ns > until_ns) leave_ns = until_ns > polls.leave_ns ? until_ns : polls.leave_ns;
    polls.leave_ns = leave_ns;
    polls.inside_ns += count * inside_ns_;
    if (polls.inside_ns > leave_ns - polls.enter_ns) polls.inside_ns = leave_ns - polls.enter_ns;
  }

  std::uint64_t next_ = 0;         // key() of those that need no time
  Here* here_ = nullptr;           // of their thread
  PendingPolls* polls_ = nullptr;  // where they are counted
  std::uint64_t timed_ = 0;        // the call of these that is the next timed one, less one; 0: the next one
  std::uint64_t begun_ = 0;        // the last timed one
  std::uint64_t untimed_ = kUntimed;
  std::uint64_t period_ns_ = 0, inside_ns_ = 0;
};

extern UntimedPolls untimed_polls __attribute__((visibility("hidden")));

}  // namespace weft::trace
