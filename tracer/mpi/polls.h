// Tests and probes in vain that come one after the other: most of them are counted without a look at the
// clock, which costs as much as such a call itself.
//
// Only where no two threads can be in MPI at once. The first two are timed. Then each 16th is, as long as
// that one comes when it would if all between took what those did; a row with a longer pause in it counts as
// two, with the pause between them.
#pragma once

#include <cstdint>

#include "tracer/format/format.h"

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
  // A poll begins: need it not be timed? `thread`: an address that is the thread's own.
  bool begin(std::uint64_t kind, const void* thread) {
    if (left_ == 0 || kind != kind_ || thread != thread_) return false;
    --left_;
    return true;
  }
  // It was in vain. Who looks at a program that hangs sees it in the file's live block.
  void count() {
    ++count_;
    __atomic_store_n(&polls_->calls, polls_->calls + 1, __ATOMIC_RELEASE);
  }
  // How long one takes inside MPI.
  std::uint64_t inside_ns() const { return inside_ns_; }

  // Gives those that were counted in `polls` their time, up to `until_ns` at most. The next one is timed,
  // unless it was said that it `follows()`.
  void join(PendingPolls& polls, std::uint64_t until_ns, bool goes_on = false) {
    if (!goes_on) left_ = 0;
    if (count_ == 0) return;
    std::uint64_t leave_ns = polls.leave_ns + count_ * period_ns_;
    if (leave_ns > until_ns) leave_ns = until_ns > polls.leave_ns ? until_ns : polls.leave_ns;
    polls.leave_ns = leave_ns;
    polls.inside_ns += count_ * inside_ns_;
    if (polls.inside_ns > leave_ns - polls.enter_ns) polls.inside_ns = leave_ns - polls.enter_ns;
    count_ = 0;
  }
  // A timed one that comes within this time after the last timed one follows it, and those counted between.
  std::uint64_t longest_ns(std::uint64_t longest_gap_ns) const {
    return count_ == 0 ? longest_gap_ns : 2 * (count_ + 1) * period_ns_ + longest_gap_ns;
  }
  // It does, and took so long; the last timed one was left `period_ns` before it was, for all that were
  // counted between. `polls` is where they are.
  void follows(std::uint64_t kind, const void* thread, std::uint64_t period_ns, std::uint64_t inside_ns,
               PendingPolls& polls) {
    polls_ = &polls;
    period_ns_ = period_ns / (count_ + 1);
    inside_ns_ = inside_ns;
    kind_ = kind;
    thread_ = thread;
    left_ = kUntimed;
  }

 private:
  static constexpr std::uint32_t kUntimed = 15;

  std::uint64_t kind_ = kNoPolls, period_ns_ = 0, inside_ns_ = 0;
  const void* thread_ = nullptr;
  PendingPolls* polls_ = nullptr;
  std::uint32_t left_ = 0, count_ = 0;
};

extern UntimedPolls untimed_polls;

}  // namespace weft::trace
