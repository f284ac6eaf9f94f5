#include "sim/core/windows.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <exception>
#include <thread>
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
        barrier_(threads_, Completion{this}) {
    open(first);
  }

  StopReason run() {
    std::vector<std::jthread> others;
    try {
      for (std::uint32_t t = 1; t < threads_; ++t) others.emplace_back([this, t] { work(t); });
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
  struct Completion {
    Windows* windows;
    void operator()() noexcept { windows->close(); }
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
    while (!over_) {
      for (std::uint32_t p = thread; p < partitions_; p += threads_) claim_and_run(p);
      for (std::uint32_t p = 0; p < partitions_ && partitions_ > threads_; ++p) claim_and_run(p);
      if (threads_ == 1) {
        close();
      } else {
        barrier_.arrive_and_wait();
      }
    }
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

  // After a window, by one thread while the others wait.
  void close() noexcept {
    ++window_;
    if (failed_.load(std::memory_order_relaxed)) {
      over_ = true;
      return;
    }
    Time now = Time::max();
    for (const Slot& slot : slots_) now = std::min(now, slot.next);
    open(now);
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
  StopReason reason_ = StopReason::kNone;
  std::exception_ptr between_error_;
  std::barrier<Completion> barrier_;
};

}  // namespace

StopReason run_windows(Partitioned& run, Time first, Time lookahead, std::uint32_t threads) {
  return Windows(run, first, lookahead, threads).run();
}

}  // namespace weft::sim
