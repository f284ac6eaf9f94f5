#include "sim/core/windows.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace weft::sim {
namespace {

class Windows {
 public:
  Windows(Partitioned& run, Time first, Time lookahead, std::uint32_t threads)
      : run_(run),
        lookahead_(lookahead),
        partitions_(run.partitions()),
        slots_(partitions_),
        threads_(std::clamp<std::uint32_t>(threads, 1, partitions_)),
        alone_(threads_ == 1),
        executed_(run.events_executed()),
        barrier_(threads_, Completion{this}) {
    open(first);
    publish();
  }

  StopReason run() {
    std::vector<std::jthread> others;
    try {
      for (std::uint32_t t = 1; t < threads_; ++t) others.push_back(start(t));
    } catch (...) {
      // The system gives no more threads. Those that there are wait for this one and the missing ones.
      failed_.store(true, std::memory_order_relaxed);
      for (std::size_t t = others.size(); t < threads_; ++t) barrier_.arrive_and_drop();
      throw;
    }
    work(0);
    others.clear();
    for (const Slot& slot : slots_) {
      if (slot.error != nullptr) std::rethrow_exception(slot.error);
    }
    if (between_error_ != nullptr) std::rethrow_exception(between_error_);
    return reason_;
  }

 private:
  std::jthread start(std::uint32_t thread) {
    try {
      return std::jthread([this, thread] { work(thread); });
    } catch (const std::system_error& error) {
      throw std::system_error(error.code(), "can't start thread " + std::to_string(thread + 1) + " of " +
                                                std::to_string(threads_));
    }
  }

  enum class Mode : std::uint8_t { kTogether, kAlone, kOver };
  // Events in a window from which more threads are worth it, and below which they are not. They differ, so
  // that it does not change all the time; meeting takes as long as some hundred events.
  static constexpr std::int64_t kEnough = 3000, kTooFew = 1000;
  struct Completion {
    Windows* windows;
    void operator()() noexcept {
      if (!std::exchange(windows->only_meeting_, false)) windows->close();
      windows->publish();
    }
  };
  // On cache lines of their own: the partition's thread writes them in every window.
  struct alignas(64) Slot {
    std::atomic<std::uint32_t> windows = 0;  // claimed so far
    Time next;
    std::exception_ptr error;
  };

  // A thread has partitions of its own, whose memory is in its caches; when these are done, it takes what
  // others have not begun.
  void work(std::uint32_t thread) {
    while (mode_ != Mode::kOver) {
      if (mode_ == Mode::kAlone) {
        if (thread == 0) run_alone();
      } else {
        for (std::uint32_t p = thread; p < partitions_; p += threads_) claim_and_run(p);
        for (std::uint32_t p = 0; p < partitions_ && partitions_ > threads_; ++p) claim_and_run(p);
      }
      if (threads_ > 1) {
        barrier_.arrive_and_wait();
      } else {
        publish();
      }
    }
  }

  // Until there is enough to do for all threads, which wait meanwhile.
  void run_alone() {
    while (!over_ && alone_) {
      for (std::uint32_t p = 0; p < partitions_; ++p) claim_and_run(p);
      close();
    }
    only_meeting_ = true;
  }

  void claim_and_run(std::uint32_t p) {
    Slot& slot = slots_[p];
    std::uint32_t expected = window_;
    if (!slot.windows.compare_exchange_strong(expected, window_ + 1, std::memory_order_relaxed)) return;
    try {
      slot.next = run_.run_window(p, window_, limit_);
    } catch (...) {
      slot.error = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  }

  // While all threads wait for each other: what they do next. Between two such moments it stays, whatever the
  // first thread does alone.
  void publish() noexcept { mode_ = over_ ? Mode::kOver : alone_ ? Mode::kAlone : Mode::kTogether; }

  // After a window, by one thread while the others wait.
  void close() noexcept {
    ++window_;
    weigh();
    if (failed_.load(std::memory_order_relaxed)) {
      over_ = true;
      return;
    }
    Time now = Time::max();
    for (const Slot& slot : slots_) now = std::min(now, slot.next);
    open(now);
  }

  // A running mean of the events in a window says whether more than one thread is worth it.
  void weigh() noexcept {
    const std::uint64_t executed = run_.events_executed();
    const auto events = static_cast<std::int64_t>(executed - executed_);
    executed_ = executed;
    mean_events_ += (events - mean_events_) / 8;
    alone_ = threads_ == 1 || mean_events_ < (alone_ ? kEnough : kTooFew);
  }

  void open(Time now) noexcept {
    if (now == Time::max()) {
      over_ = true;
      return;
    }
    limit_ = lookahead_ > Time::max() - now ? Time::max() : now + lookahead_;
    try {
      reason_ = run_.between_windows(now, &limit_);
    } catch (...) {
      between_error_ = std::current_exception();
      over_ = true;
    }
    if (reason_ != StopReason::kNone) over_ = true;
  }

  Partitioned& run_;
  const Time lookahead_;
  const std::uint32_t partitions_;
  std::vector<Slot> slots_;
  const std::uint32_t threads_;
  std::atomic<bool> failed_ = false;
  // Written between windows only.
  std::uint32_t window_ = 0;
  Time limit_;
  bool over_ = false;
  bool alone_;                 // the first thread runs all partitions
  bool only_meeting_ = false;  // the others join it, and nothing was run to be closed
  std::uint64_t executed_;
  std::int64_t mean_events_ = kEnough;
  Mode mode_ = Mode::kOver;
  StopReason reason_ = StopReason::kNone;
  std::exception_ptr between_error_;
  std::barrier<Completion> barrier_;
};

}  // namespace

StopReason run_windows(Partitioned& run, Time first, Time lookahead, std::uint32_t threads) {
  return Windows(run, first, lookahead, threads).run();
}

}  // namespace weft::sim
