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
        next_(partitions_),
        errors_(partitions_),
        threads_(std::clamp<std::uint32_t>(threads, 1, partitions_)),
        barrier_(threads_, Completion{this}) {
    open(first);
  }

  StopReason run() {
    std::vector<std::jthread> others;
    for (std::uint32_t t = 1; t < threads_; ++t) others.emplace_back([this] { work(); });
    work();
    others.clear();
    for (const std::exception_ptr& error : errors_) {
      if (error != nullptr) std::rethrow_exception(error);
    }
    if (between_error_ != nullptr) std::rethrow_exception(between_error_);
    return reason_;
  }

 private:
  struct Completion {
    Windows* windows;
    void operator()() noexcept { windows->close(); }
  };
  // On a cache line of its own: its partition's thread writes it in every window.
  struct alignas(64) Next {
    Time time;
  };

  void work() {
    while (!over_) {
      // Partitions are handed out one by one, so that a thread with light ones takes more of them.
      for (;;) {
        const std::uint32_t p = turn_.fetch_add(1, std::memory_order_relaxed);
        if (p >= partitions_) break;
        try {
          next_[p].time = run_.run_window(p, window_, limit_);
        } catch (...) {
          errors_[p] = std::current_exception();
          failed_.store(true, std::memory_order_relaxed);
        }
      }
      if (threads_ == 1) {
        close();
      } else {
        barrier_.arrive_and_wait();
      }
    }
  }

  // After a window, by one thread while the others wait.
  void close() noexcept {
    turn_.store(0, std::memory_order_relaxed);
    ++window_;
    if (failed_.load(std::memory_order_relaxed)) {
      over_ = true;
      return;
    }
    Time now = Time::max();
    for (const Next& next : next_) now = std::min(now, next.time);
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
  std::vector<Next> next_;
  std::vector<std::exception_ptr> errors_;
  const std::uint32_t threads_;
  std::atomic<std::uint32_t> turn_ = 0;
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
