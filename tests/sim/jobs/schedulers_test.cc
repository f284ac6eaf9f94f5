// Schedulers against naive ones, and against what their definitions promise.
#include "sim/jobs/schedulers.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sim/jobs/queue_run.h"
#include "tests/sim/jobs/naive_scheduler.h"

namespace weft::jobs {
namespace {

std::unique_ptr<Scheduler> make(const std::string& name, std::uint32_t nodes) {
  return make_scheduler({.name = name, .given = {}, .location = {}, .locations = {}}, nodes);
}

Time seconds(std::int64_t count) { return Time::us(count * 1'000'000); }

std::vector<Time> run(const std::vector<TimedJob>& jobs, const std::string& name, std::uint32_t nodes) {
  return run_queue(jobs, *make(name, nodes));
}

// Times are few whole seconds, so that much happens at one moment.
std::vector<TimedJob> random_jobs(std::mt19937_64& random, std::uint32_t nodes, double late) {
  const auto upto = [&](std::uint64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
  std::vector<TimedJob> jobs(5 + upto(60));
  const std::int64_t longest = 1 + upto(30), gap = upto(6);
  Time submit;
  for (TimedJob& job : jobs) {
    submit += seconds(upto(gap));
    job.submit = submit;
    job.nodes = static_cast<std::uint32_t>(1 + upto(nodes - 1));
    job.estimate = seconds(1 + upto(longest));
    job.runtime = seconds(upto(job.estimate.ps() / seconds(1).ps()));
    if (upto(999) < late * 1000) job.runtime = job.estimate * (2 + upto(3));
  }
  return jobs;
}

// A job in the machine at a moment.
void check_capacity(const std::vector<TimedJob>& jobs, const std::vector<Time>& starts, std::uint32_t nodes) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    REQUIRE(starts[i] >= jobs[i].submit);
    std::uint32_t used = 0;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      const bool beside = starts[j] <= starts[i] && starts[i] < starts[j] + jobs[j].runtime;
      if (beside || i == j) used += jobs[j].nodes;
    }
    // A job without length takes nodes at no time, as it ends when it starts; others may start behind it.
    if (jobs[i].runtime > Time()) REQUIRE(used <= nodes);
  }
}

TEST_CASE("a thousand random lists start as naive schedulers say", "[schedulers]") {
  std::mt19937_64 random(20);
  std::size_t filled = 0, differ = 0;
  for (int list = 0; list < 1000; ++list) {
    const auto nodes = static_cast<std::uint32_t>(1 + random() % 20);
    const std::vector<TimedJob> jobs = random_jobs(random, nodes, 0);
    std::map<std::string, std::vector<Time>> starts;
    for (const char* name : {"fcfs", "easy", "conservative"}) {
      INFO(name << ", list " << list);
      starts[name] = run(jobs, name, nodes);
      REQUIRE(starts[name] == NaiveScheduler(jobs, nodes, name).run());
      check_capacity(jobs, starts[name], nodes);
    }
    filled += starts["easy"] != starts["fcfs"];
    differ += starts["easy"] != starts["conservative"];
  }
  // The lists tell the three apart.
  CHECK(filled > 500);
  CHECK(differ > 100);
}

TEST_CASE("jobs that take longer than expected break nothing", "[schedulers]") {
  std::mt19937_64 random(21);
  for (int list = 0; list < 300; ++list) {
    const auto nodes = static_cast<std::uint32_t>(1 + random() % 20);
    const std::vector<TimedJob> jobs = random_jobs(random, nodes, 0.3);
    for (const char* name : {"fcfs", "easy", "conservative"}) {
      INFO(name << ", list " << list);
      const auto scheduler = make(name, nodes);
      const std::vector<Time> starts = run_queue(jobs, *scheduler);
      REQUIRE(scheduler->waiting() == 0);
      check_capacity(jobs, starts, nodes);
      if (std::string(name) == "fcfs") REQUIRE(std::is_sorted(starts.begin(), starts.end()));
    }
  }
}

// 4 nodes. The second job waits for the first, the third may run beside it until then, the fourth would be
// in the way.
TEST_CASE("what may start before its turn", "[schedulers]") {
  const std::vector<TimedJob> jobs = {{Time(), 3, seconds(10), seconds(10)},
                                      {seconds(1), 4, seconds(5), seconds(5)},
                                      {seconds(2), 1, seconds(8), seconds(8)},
                                      {seconds(2), 1, seconds(9), seconds(9)}};
  CHECK(run(jobs, "fcfs", 4) == std::vector{Time(), seconds(10), seconds(15), seconds(15)});
  CHECK(run(jobs, "easy", 4) == std::vector{Time(), seconds(10), seconds(2), seconds(15)});
  CHECK(run(jobs, "conservative", 4) == run(jobs, "easy", 4));
}

// EASY minds the first job that waits only; conservative backfilling minds the third's reservation too.
TEST_CASE("conservative backfilling keeps all reservations", "[schedulers]") {
  const std::vector<TimedJob> jobs = {{Time(), 3, seconds(10), seconds(10)},
                                      {Time(), 2, seconds(10), seconds(10)},
                                      {Time(), 4, seconds(5), seconds(5)},
                                      {Time(), 1, seconds(30), seconds(30)}};
  CHECK(run(jobs, "easy", 4) == std::vector{Time(), seconds(10), seconds(30), Time()});
  CHECK(run(jobs, "conservative", 4) == std::vector{Time(), seconds(10), seconds(20), seconds(25)});
}

TEST_CASE("a job without a place waits, and FCFS waits with it", "[schedulers]") {
  for (const char* name : {"fcfs", "easy", "conservative"}) {
    INFO(name);
    const auto scheduler = make(name, 4);
    scheduler->submitted(Time(), {0, 1, seconds(10)});
    scheduler->submitted(Time(), {1, 2, seconds(4)});
    scheduler->submitted(Time(), {2, 1, seconds(2)});
    std::vector<std::uint32_t> started;
    bool has_place = false;
    const auto start = [&](const QueuedJob& job) {
      if (job.id == 1 && !has_place) return false;
      started.push_back(job.id);
      return true;
    };
    scheduler->schedule(Time(), start);
    // Nobody knows when there will be a place for job 1, but job 2 is over before job 0 could make any.
    CHECK(started ==
          (std::string(name) == "fcfs" ? std::vector<std::uint32_t>{0} : std::vector<std::uint32_t>{0, 2}));
    has_place = true;
    scheduler->finished(seconds(10), 0);
    scheduler->schedule(seconds(10), start);
    CHECK(std::count(started.begin(), started.end(), 1u) == 1);
    CHECK(scheduler->waiting() == 0);
  }
}

TEST_CASE("figures of a queue", "[schedulers]") {
  // One node: 0 to 10, and the second waits 5 for it and runs 20.
  const std::vector<TimedJob> jobs = {{Time(), 1, seconds(10), seconds(10)},
                                      {seconds(5), 1, seconds(20), seconds(20)}};
  const QueueFigures result = figures(jobs, run(jobs, "fcfs", 1), 1, seconds(40));
  CHECK(result.makespan_s == 30);
  CHECK(result.mean_waiting_s == 2.5);
  CHECK(result.max_waiting_s == 5);
  CHECK(result.mean_turnaround_s == 17.5);
  CHECK(result.mean_slowdown == (1 + 1.25) / 2);
  CHECK(result.mean_bounded_slowdown == 1);
  CHECK(result.utilization == 1);
}

}  // namespace
}  // namespace weft::jobs
