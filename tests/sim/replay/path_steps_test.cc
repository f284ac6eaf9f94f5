// Where the time of a critical path went: a closed form, and parts that add up to the path.
#include <catch2/catch.hpp>
#include <string>

#include "tests/sim/replay/random_program.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::sim;

namespace {

// With the steps of its path.
struct Run : LogGopsRun {
  Run(goal::Graph input, const LogGops& p)
      : LogGopsRun(std::move(input), p, {.keeps_path = true, .keeps_steps = true}) {}
};

template <typename Map, typename Part>
Time sum(const Map& map, Part part) {
  Time sum;
  for (const auto& [key, value] : map) sum += part(value);
  return sum;
}
Time itself(Time time) { return time; }

}  // namespace

TEST_CASE("of a chain over ranks each has its own work, and the message that came to it") {
  const LogGops p{.L = 1000, .o = 100, .g = 0, .G = 0, .allreduce = "recursive_doubling"};
  const Run done(goal::parse_text("num_ranks 3\ncomm 1 \"pp 0\" all\n"
                                  "rank 0 {\na: calc 3000\nb: send 8b to 1 comm 1\nb requires a\n}\n"
                                  "rank 1 {\na: recv 8b from 0 comm 1\nb: calc 500\nc: send 8b to 2\n"
                                  "b requires a\nc requires b\n}\n"
                                  "rank 2 {\na: recv 8b from 1\n}\n",
                                  "test.goal"),
                 p);
  const results::PathShares shares = done.replay.path_shares().value();
  CHECK(shares.ranks.at(0) == Time::ns(3000 + 100));
  CHECK(shares.ranks.at(1) == Time::ns(1000 + 100 + 500 + 100));
  CHECK(shares.ranks.at(2) == Time::ns(1000 + 100));
  CHECK(shares.activities.at({"computation", ""}).time == Time::ns(3500));
  CHECK(shares.activities.at({"computation", ""}).count == 2);
  CHECK(shares.activities.at({"point to point", "pp"}).time == Time::ns(100 + 1000 + 100));
  CHECK(shares.activities.at({"point to point", ""}).time == Time::ns(100 + 1000 + 100));
  CHECK(shares.activities.at({"point to point", ""}).count == 1);
}

TEST_CASE("a large message is one, with its request and the answer") {
  const LogGops p{.L = 1000, .o = 100, .g = 0, .G = 1, .S = 1000};
  std::string text[2];
  for (int i = 0; i < 5; ++i) {
    const std::string number = std::to_string(i);
    for (const int rank : {0, 1}) {
      const bool sends = rank == i % 2;
      text[rank] += "m" + number + (sends ? ": send 5000b to " : ": recv 5000b from ") +
                    std::to_string(1 - rank) + "\n";
      if (i > 0) text[rank] += "m" + number + " requires m" + std::to_string(i - 1) + "\n";
    }
  }
  const Run run(
      goal::parse_text("num_ranks 2\nrank 0 {\n" + text[0] + "}\nrank 1 {\n" + text[1] + "}\n", "test.goal"),
      p);
  const results::PathShares shares = run.replay.path_shares().value();
  CHECK(run.replay.critical_path().value().matching > Time());
  CHECK(shares.activities.at({"point to point", ""}).count == 5);
}

TEST_CASE("calls of a collective are counted once, without work of cpus too") {
  for (const int o : {0, 100}) {
    const LogGops p{.L = 1000, .o = o, .g = 0, .G = 0, .allreduce = "recursive_doubling"};
    std::string text = "num_ranks 4\ncomm 1 \"dp 0\" all\n";
    for (int r = 0; r < 4; ++r) {
      text += "rank " + std::to_string(r) +
              " {\na: allreduce 8b comm 1\nb: calc 500\nc: allreduce 8b comm 1\nd: allreduce 8b\n"
              "b requires a\nc requires b\nd requires c\n}\n";
    }
    const Run run(goal::parse_text(text, "test.goal"), p);
    const results::PathShares shares = run.replay.path_shares().value();
    CHECK(shares.activities.at({"allreduce", "dp"}).count == 2);
    CHECK(shares.activities.at({"allreduce", "dp"}).time == Time::ns(2 * 2 * (1000 + 2 * o)));
    CHECK(shares.activities.at({"allreduce", ""}).count == 1);
    CHECK(shares.activities.at({"computation", ""}).time == Time::ns(500));
  }
}

TEST_CASE("ranks, activities and messages add up to the path, whatever a program does") {
  std::uint64_t paths = 0, messages = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    LogGops p;
    p.o = seed % 2 == 0 ? 100 : 0;
    p.S = seed % 3 == 0 ? 1000 : 1 << 20;
    const Run run(random_program(seed, {.sparse_cpus = seed % 5 == 0}).graph(), p);
    if (!run.replay.complete()) continue;
    const results::CriticalPath path = run.replay.critical_path().value();
    const results::PathShares shares = run.replay.path_shares().value();
    INFO("seed " << seed);
    CHECK(sum(shares.ranks, itself) == path.total());
    CHECK(sum(shares.activities, [](const auto& spent) { return spent.time; }) == path.total());
    CHECK(sum(shares.messages, itself) == path.bandwidth + path.queueing);
    ++paths;
    messages += !shares.messages.empty();
  }
  CHECK(paths > 100);
  CHECK(messages > 20);
}
