// Computing beside collectives: closed forms, and a walk over the times by hand.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::sim;

namespace {

// An allreduce of two ranks takes 1,000 ns from when the later one begins.
LogGops slowed(double by) {
  return {.L = 1000, .o = 0, .g = 0, .G = 0, .allreduce = "recursive_doubling", .overlap_slowdown = by};
}

LogGopsRun two_ranks(const std::string& first, const std::string& second, double by,
                     const ReplayPlace& place = {}) {
  const std::string text =
      "num_ranks 2\ncomm 1 \"dp 0\" all\nrank 0 {\n" + first + "}\nrank 1 {\n" + second + "}\n";
  return {goal::parse_text(text, "test.goal"), slowed(by), place};
}

// Computes on cpu 0, and beside it an allreduce on cpu 1 that begins after a while.
std::string rank(int computes, int begins) {
  return fmt::format("c: calc {} cpu 0\nw: calc {} cpu 1\na: allreduce 8b comm 1 cpu 1\na requires w\n",
                     computes, begins);
}

// When a calc is done that begins at 0 and has the speed 1 / slowdown within the intervals.
double naive_end(double work, double slowdown, const std::vector<std::pair<double, double>>& busy) {
  double now = 0;
  for (const auto& [from, until] : busy) {
    if (work <= from - now) return now + work;
    work -= from - now;
    now = from;
    if (work * slowdown <= until - now) return now + work * slowdown;
    work -= (until - now) / slowdown;
    now = until;
  }
  return now + work;
}

}  // namespace

TEST_CASE("a calc is slowed while a collective of its rank is under way") {
  const LogGopsRun run = two_ranks(rank(5000, 0), rank(5000, 0), 2);
  CHECK(static_cast<double>(run.finish()[0]) == Approx(5500).margin(1));
  CHECK(run.finish()[1] == run.finish()[0]);
}

TEST_CASE("a collective that outlasts a calc slows all of it") {
  const LogGopsRun run = two_ranks(rank(400, 0), rank(1, 0), 2);
  CHECK(static_cast<double>(run.replay.ranks()[0].compute.ps()) * 1e-3 == Approx(800).margin(2));
}

TEST_CASE("a collective that waits for others slows, too") {
  const LogGopsRun run = two_ranks(rank(10000, 0), rank(1, 3000), 1.25);
  CHECK(static_cast<double>(run.finish()[0]) == Approx(10000 + 4000 / 5).margin(1));
}

TEST_CASE("what is not beside a collective keeps its time") {
  const std::string behind = "c: calc 5000 cpu 0\na: allreduce 8b comm 1 cpu 1\na requires c\n";
  CHECK(two_ranks(behind, behind, 2).finish() == Times{6000, 6000});
  CHECK(two_ranks(rank(5000, 0), rank(5000, 0), 1).finish() == Times{5000, 5000});
}

TEST_CASE("messages alone slow nothing") {
  const LogGopsRun run = two_ranks("c: calc 5000 cpu 0\ns: send 8b to 1 cpu 1\n",
                                   "c: calc 5000 cpu 0\nr: recv 8b from 0 cpu 1\n", 2);
  CHECK(run.finish() == Times{5000, 5000});
}

TEST_CASE("a calc beside any collectives takes what a walk over them says") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const int work = 1 + static_cast<int>(random() % 30000);
    const double slowdown = 1 + static_cast<double>(random() % 300) / 100;
    std::string text = fmt::format("c: calc {} cpu 0\n", work);
    std::vector<std::pair<double, double>> busy;
    double now = 0;
    for (int i = 0; i < 8; ++i) {
      const int pause = static_cast<int>(random() % 3000);  // on both ranks: they begin together
      text += fmt::format("w{0}: calc {1} cpu 1\na{0}: allreduce 8b comm 1 cpu 1\na{0} requires w{0}\n", i,
                          pause);
      if (i > 0) text += fmt::format("w{} requires a{}\n", i, i - 1);
      now += pause;
      busy.emplace_back(now, now + 1000);
      now += 1000;
    }
    // The pauses are calcs, too, but none is beside a collective of its rank: those on cpu 1 are before it.
    const LogGopsRun run = two_ranks(text, text, slowdown, {.keeps_path = true});
    const double ends = naive_end(work, slowdown, busy);
    CAPTURE(trial, work, slowdown);
    CHECK(static_cast<double>(run.finish()[0]) == Approx(std::max(ends, now)).margin(slowdown + 1));
    const results::CpuTimes times = run.replay.cpu_times(0).value();
    CHECK(static_cast<double>(times.compute.ps()) * 1e-3 == Approx(ends).margin(slowdown + 1));
  }
}
