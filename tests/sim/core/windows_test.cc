// Windows against one queue for all: a toy whose partitions send each other mail.
#include "sim/core/windows.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <mutex>
#include <queue>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "sim/core/random.h"

namespace weft::sim {
namespace {

constexpr Time kLookahead = Time::ps(100);

// An event makes others, by a rule that knows nothing but the event: the set of all events is the same in any
// order of execution.
struct ToyEvent {
  std::int64_t ps = 0;
  std::uint64_t id = 0;
  std::uint32_t partition = 0;
  std::uint32_t hops = 0;  // generations to come
  auto operator<=>(const ToyEvent&) const = default;
};
using Latest = std::priority_queue<ToyEvent, std::vector<ToyEvent>, std::greater<>>;

template <typename Add>
void execute(const ToyEvent& event, std::uint32_t partitions, Add&& add) {
  if (event.hops == 0) return;
  RandomStream random(event.id, 0);
  for (std::uint64_t children = random.below(3); children > 0; --children) {
    ToyEvent child{.id = random.next(), .hops = event.hops - 1};
    child.partition = static_cast<std::uint32_t>(random.below(partitions));
    // Mail just as early as it may be, one time in two; events of its own even at once.
    const auto extra = static_cast<std::int64_t>(random.below(2) == 0 ? 0 : random.below(250));
    child.ps = event.ps + extra + (child.partition == event.partition ? 0 : kLookahead.ps());
    add(child);
  }
}

std::vector<ToyEvent> beginnings(std::uint32_t partitions, std::uint64_t seed) {
  RandomStream random(seed, 1);
  std::vector<ToyEvent> events;
  for (int i = 0; i < 60; ++i) {
    events.push_back({.ps = static_cast<std::int64_t>(500 + random.below(3'000)),
                      .id = random.next(),
                      .partition = static_cast<std::uint32_t>(random.below(partitions)),
                      .hops = 12});
  }
  return events;
}

// What must come out: every event, from a single queue.
std::vector<ToyEvent> all_events(std::uint32_t partitions, std::uint64_t seed) {
  Latest queue;
  for (const ToyEvent& event : beginnings(partitions, seed)) queue.push(event);
  std::vector<ToyEvent> executed;
  while (!queue.empty()) {
    executed.push_back(queue.top());
    queue.pop();
    execute(executed.back(), partitions, [&](const ToyEvent& child) { queue.push(child); });
  }
  std::sort(executed.begin(), executed.end());  // of one time, as they made each other
  return executed;
}

class Toy : public Partitioned {
 public:
  struct Window {
    Time now, limit;
  };

  Toy(std::uint32_t partitions, std::uint64_t seed) : parts_(partitions) {
    for (auto& boxes : mail_) boxes.resize(partitions * std::size_t{partitions});
    for (const ToyEvent& event : beginnings(partitions, seed)) parts_[event.partition].queue.push(event);
  }
  std::uint32_t partitions() const override { return static_cast<std::uint32_t>(parts_.size()); }
  Time first() const {
    Time first = Time::max();
    for (const Part& part : parts_) first = std::min(first, next(part));
    return first;
  }
  // Each event counts for so many when threads are weighed against what there is to do.
  void set_weight(std::uint64_t weight) { weight_ = weight; }
  std::uint64_t events_executed() const override {
    std::uint64_t events = 0;
    for (const Part& part : parts_) events += part.executed.size();
    return events * weight_;
  }
  // A partition stops for a while after so many events of a window.
  void set_most(std::size_t events) { most_ = events; }

  Time run_window(std::uint32_t p, std::uint32_t window, Time limit) override {
    Part& part = parts_[p];
    const int inside = ++part.inside;
    if (inside != 1) part.wrong = "two threads run one partition";
    if (window != part.windows++) part.wrong = "a window is left out or comes twice";
    if (window + 1 != windows_.size() || limit != windows_.back().limit) part.wrong = "another limit";
    part.threads.insert(std::this_thread::get_id());
    before_window(p, window);
    for (std::uint32_t from = 0; from < partitions(); ++from) {
      std::vector<ToyEvent>& box = mail_[(window & 1) ^ 1][from * partitions() + p];
      for (const ToyEvent& event : box) {
        if (event.ps < part.clock_ps) part.wrong = "mail from the past";
        part.queue.push(event);
      }
      box.clear();
    }
    Time earliest = Time::max();
    for (std::size_t executed = 0; next(part) < limit && executed < most_; ++executed) {
      const ToyEvent event = part.queue.top();
      part.queue.pop();
      if (event.ps < part.clock_ps) part.wrong = "an event after a later one";
      if (event.ps < windows_.back().now.ps()) part.wrong = "an event before its window";
      part.clock_ps = event.ps;
      part.executed.push_back(event);
      execute(event, partitions(), [&](const ToyEvent& child) {
        if (child.partition == p) return part.queue.push(child);
        if (child.ps < limit.ps()) part.wrong = "mail within the window it was sent in";
        earliest = std::min(earliest, Time::ps(child.ps));
        mail_[window & 1][p * partitions() + child.partition].push_back(child);
      });
    }
    --part.inside;
    return std::min(earliest, next(part));
  }
  StopReason between_windows(Time now, Time* limit) override {
    for (const Part& part : parts_) {
      if (part.inside != 0) wrong_ = "between windows, but a partition runs";
    }
    const StopReason reason = decide(now, limit);
    windows_.push_back({now, *limit});
    return reason;
  }

  // "" or what was noticed.
  std::string wrong() const {
    for (const Part& part : parts_) {
      if (!part.wrong.empty()) return part.wrong;
    }
    return wrong_;
  }
  std::vector<ToyEvent> executed() const {
    std::vector<ToyEvent> all;
    for (const Part& part : parts_) all.insert(all.end(), part.executed.begin(), part.executed.end());
    std::sort(all.begin(), all.end());
    return all;
  }
  // How many windows a partition has run.
  std::uint32_t runs(std::uint32_t p) const { return parts_[p].windows; }
  std::size_t threads() const {
    std::set<std::thread::id> all;
    for (const Part& part : parts_) all.insert(part.threads.begin(), part.threads.end());
    return all.size();
  }
  const std::vector<Window>& windows() const { return windows_; }

 protected:
  virtual void before_window(std::uint32_t, std::uint32_t) {}
  virtual StopReason decide(Time, Time*) { return StopReason::kNone; }

 private:
  struct Part {
    Latest queue;
    std::vector<ToyEvent> executed;
    std::int64_t clock_ps = 0;
    std::uint32_t windows = 0;
    std::atomic<int> inside = 0;
    std::set<std::thread::id> threads;
    std::string wrong;
  };
  static Time next(const Part& part) {
    return part.queue.empty() ? Time::max() : Time::ps(part.queue.top().ps);
  }

  std::vector<Part> parts_;
  std::vector<std::vector<ToyEvent>> mail_[2];  // by parity of the window; from * partitions + to
  std::vector<Window> windows_;
  std::size_t most_ = SIZE_MAX;
  std::uint64_t weight_ = 1'000'000;
  std::string wrong_;
};

TEST_CASE("partitions in windows execute what one queue would, on any number of threads") {
  for (const std::uint32_t partitions : {1, 2, 3, 7, 16}) {
    const auto expected = all_events(partitions, 5);
    REQUIRE(expected.size() > 300);
    for (const std::uint32_t threads : {1, 2, 3, 4}) {
      // All threads in every window; the first alone after a while; now so, now so.
      for (const std::uint64_t weight : {1'000'000, 1, 300}) {
        for (const std::size_t most : {SIZE_MAX, std::size_t{2}}) {
          CAPTURE(partitions, threads, most, weight);
          Toy toy(partitions, 5);
          toy.set_most(most);
          toy.set_weight(weight);
          REQUIRE(run_windows(toy, toy.first(), kLookahead, threads) == StopReason::kNone);
          REQUIRE(toy.wrong() == "");
          REQUIRE((toy.executed() == expected));
          // More threads than partitions there are not.
          REQUIRE(toy.threads() <= std::min(partitions, threads));
          for (std::uint32_t p = 0; p < partitions; ++p) REQUIRE(toy.runs(p) == toy.windows().size());
        }
      }
    }
  }
}

TEST_CASE("a window opens at the earliest event and is as long as the lookahead") {
  Toy toy(4, 9);
  const Time first = toy.first();
  run_windows(toy, first, kLookahead, 2);
  const auto executed = toy.executed();
  auto at = executed.begin();
  for (const Toy::Window& window : toy.windows()) {
    REQUIRE(window.limit == window.now + kLookahead);
    REQUIRE(at != executed.end());
    REQUIRE(window.now == Time::ps(at->ps));
    while (at != executed.end() && at->ps < window.limit.ps()) ++at;
  }
  REQUIRE(at == executed.end());
  REQUIRE(toy.windows().front().now == first);
}

TEST_CASE("without mail there may be one window for all time, and none if nothing is to be done") {
  Toy alone(1, 3);
  run_windows(alone, alone.first(), Time::max(), 4);
  REQUIRE(alone.windows().size() == 1);
  REQUIRE(alone.windows().front().limit == Time::max());
  REQUIRE((alone.executed() == all_events(1, 3)));
  Toy never(3, 3);
  REQUIRE(run_windows(never, Time::max(), kLookahead, 2) == StopReason::kNone);
  REQUIRE(never.windows().empty());
  REQUIRE(never.executed().empty());
}

// Ends each window at a multiple of a period, as sampling does.
class Ticking final : public Toy {
 public:
  using Toy::Toy;

 private:
  StopReason decide(Time now, Time* limit) override {
    constexpr std::int64_t kPeriod = 37;
    *limit = std::min(*limit, Time::ps((now.ps() / kPeriod + 1) * kPeriod));
    return StopReason::kNone;
  }
};

TEST_CASE("windows may be shortened between them") {
  const auto expected = all_events(5, 11);
  for (const std::uint32_t threads : {1, 3}) {
    Ticking toy(5, 11);
    run_windows(toy, toy.first(), kLookahead, threads);
    REQUIRE(toy.wrong() == "");
    REQUIRE((toy.executed() == expected));
    for (const Toy::Window& window : toy.windows()) {
      REQUIRE(window.limit > window.now);
      REQUIRE(window.limit.ps() % 37 == 0);
    }
  }
}

class Stopping final : public Toy {
 public:
  Stopping(std::uint32_t partitions, std::size_t after) : Toy(partitions, 2), after_(after) {}

 private:
  StopReason decide(Time, Time*) override {
    return windows().size() < after_ ? StopReason::kNone : StopReason::kTimeLimit;
  }
  const std::size_t after_;
};

TEST_CASE("a run ends between windows when it is told to") {
  for (const std::uint32_t threads : {1, 2, 4}) {
    for (const std::uint32_t after : {0, 1, 5}) {
      CAPTURE(threads, after);
      Stopping toy(6, after);
      REQUIRE(run_windows(toy, toy.first(), kLookahead, threads) == StopReason::kTimeLimit);
      for (std::uint32_t p = 0; p < 6; ++p) REQUIRE(toy.runs(p) == after);
      // Only events before the end of the last window that ran were executed.
      auto expected = all_events(6, 2);
      const std::int64_t end = after == 0 ? 0 : toy.windows()[after - 1].limit.ps();
      std::erase_if(expected, [&](const ToyEvent& event) { return event.ps >= end; });
      REQUIRE((toy.executed() == expected));
      REQUIRE(toy.wrong() == "");
    }
  }
}

// Some partitions fail in one window, most likely the one with the greatest number first.
class Failing final : public Toy {
 public:
  Failing(std::uint32_t partitions, std::set<std::uint32_t> failing)
      : Toy(partitions, 4), failing_(std::move(failing)) {}

 private:
  void before_window(std::uint32_t p, std::uint32_t window) override {
    if (window != 3 || !failing_.contains(p)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(partitions() - p));
    throw std::runtime_error("partition " + std::to_string(p));
  }
  const std::set<std::uint32_t> failing_;
};

class FailingBetween final : public Toy {
 public:
  using Toy::Toy;

 private:
  StopReason decide(Time, Time*) override {
    if (windows().size() == 2) throw std::runtime_error("between");
    return StopReason::kNone;
  }
};

TEST_CASE("exceptions end the run and come out, that of the least partition first") {
  for (const std::uint32_t threads : {1, 2, 3, 4}) {
    CAPTURE(threads);
    Failing several(8, {2, 5, 6});
    REQUIRE_THROWS_WITH(run_windows(several, several.first(), kLookahead, threads), "partition 2");
    // The others end their window, and no other is begun.
    for (std::uint32_t p = 0; p < 8; ++p) REQUIRE(several.runs(p) == 4);
    Failing last(8, {7});
    REQUIRE_THROWS_WITH(run_windows(last, last.first(), kLookahead, threads), "partition 7");
    FailingBetween between(8, 4);
    REQUIRE_THROWS_WITH(run_windows(between, between.first(), kLookahead, threads), "between");
    REQUIRE(between.runs(0) == 2);
  }
}

// Its partitions' windows last until as many of them are running at once as there should be threads.
class Meeting final : public Partitioned {
 public:
  explicit Meeting(std::uint32_t expected) : expected_(expected) {}
  std::uint32_t partitions() const override { return 4; }
  Time run_window(std::uint32_t, std::uint32_t, Time) override {
    std::unique_lock lock(mutex_);
    met_ = std::max(met_, ++inside_);
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return met_ >= expected_; });
    --inside_;
    return Time::max();
  }
  StopReason between_windows(Time, Time*) override { return StopReason::kNone; }
  std::uint64_t events_executed() const override { return 0; }
  std::uint32_t met() const { return met_; }

 private:
  const std::uint32_t expected_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t inside_ = 0, met_ = 0;
};

TEST_CASE("as many partitions run at once as there are threads") {
  for (const std::uint32_t threads : {1, 2, 3, 4}) {
    Meeting meeting(threads);
    run_windows(meeting, Time(), kLookahead, threads);
    REQUIRE(meeting.met() == threads);
  }
}

// Sanitizers need address space of their own.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a run ends if the system gives no more threads") {
  // Room for a few stacks only.
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  REQUIRE(pages > 0);
  rlimit old;
  REQUIRE(getrlimit(RLIMIT_AS, &old) == 0);
  rlimit tight = old;
  tight.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{20} << 20);
  Toy toy(64, 6);
  REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
  bool refused = false;
  try {
    run_windows(toy, toy.first(), kLookahead, 64);
  } catch (const std::system_error&) {
    refused = true;
  }
  REQUIRE(setrlimit(RLIMIT_AS, &old) == 0);
  REQUIRE(refused);
}
#endif

}  // namespace
}  // namespace weft::sim
