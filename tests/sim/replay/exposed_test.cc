// What computation waits for: closed forms, and times that add up.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "tests/sim/replay/random_program.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::sim;

namespace {

// With what its cpus' time consists of.
struct Run : LogGopsRun {
  Run(goal::Graph input, const LogGops& p) : LogGopsRun(std::move(input), p, {.keeps_path = true}) {}
  results::CpuTimes of(std::uint32_t rank) const { return replay.cpu_times(rank).value(); }
};

// Returns the times of one class; they are 0 where none has that name.
results::CommunicationTime of_class(const results::CpuTimes& times, const std::string& name) {
  const auto found = std::ranges::find(times.communication, name, &results::CommunicationTime::name);
  return found == times.communication.end() ? results::CommunicationTime{} : *found;
}

const LogGops kOnlyLatency{.L = 1000, .o = 0, .g = 0, .G = 0, .allreduce = "recursive_doubling"};

// Two ranks with the same program.
Run two_ranks(const std::string& rank, const LogGops& p = kOnlyLatency) {
  std::string text = "num_ranks 2\ncomm 1 \"dp 0\" all\n";
  for (int r = 0; r < 2; ++r) text += fmt::format("rank {} {{\n{}}}\n", r, rank);
  return {goal::parse_text(text, "test.goal"), p};
}

// All forward, then all backward, of stages that take F and B for each of the micro-batches.
goal::Graph gpipe(std::uint32_t stages, std::uint32_t micro_batches, std::uint64_t F, std::uint64_t B) {
  goal::GraphBuilder builder;
  const std::uint32_t comm = builder.add_communicator({"pp 0", {}});
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    goal::OpIndex last = 0;
    bool is_first = true;
    for (std::uint32_t i = 0; i < 2 * micro_batches; ++i) {
      const bool forward = i < micro_batches;
      const bool receives = forward ? stage > 0 : stage + 1 < stages;
      const bool sends = forward ? stage + 1 < stages : stage > 0;
      const std::uint32_t before = forward ? stage - 1 : stage + 1, behind = forward ? stage + 1 : stage - 1;
      const goal::OpIndex calc = builder.add_calc(forward ? F : B);
      if (!std::exchange(is_first, false)) builder.add_edge(last, calc);
      last = calc;
      if (receives) builder.add_edge(builder.add_recv(8, before, i, 1, 0, comm), calc);
      if (sends) builder.add_edge(calc, builder.add_send(8, behind, i, 2, 0, comm));
    }
    builder.end_rank();
  }
  return builder.finish();
}

// Times of all calcs on the lowest of the rank's cpus.
Time calcs_of_first_cpu(const goal::Graph& graph, std::uint32_t r) {
  const goal::RankView rank = graph.rank(r);
  std::uint16_t first = UINT16_MAX;
  for (goal::OpIndex i = 0; i < rank.ops(); ++i) first = std::min(first, rank.cpu(i));
  Time sum;
  for (goal::OpIndex i = 0; i < rank.ops(); ++i) {
    const bool counts = rank.kind(i) == goal::OpKind::kCalc && rank.cpu(i) == first;
    if (counts) sum += Time::ns(static_cast<std::int64_t>(rank.value(i)));
  }
  return sum;
}

bool has_one_cpu(const goal::Graph& graph, std::uint32_t r) {
  const goal::RankView rank = graph.rank(r);
  for (goal::OpIndex i = 0; i < rank.ops(); ++i) {
    if (rank.cpu(i) != rank.cpu(0)) return false;
  }
  return rank.ops() > 0;
}

}  // namespace

TEST_CASE("an all-reduce that nothing goes on beside is exposed: its time") {
  const Run run =
      two_ranks("a: calc 3000\nb: allreduce 8b comm 1 cpu 1\nc: calc 500\nb requires a\nc requires b\n");
  for (std::uint32_t r = 0; r < 2; ++r) {
    const results::CpuTimes times = run.of(r);
    CHECK(of_class(times, "dp").exposed_mean == Time::ns(1000));  // one exchange
    CHECK(of_class(times, "dp").hidden_mean == Time());
    CHECK(times.compute == Time::ns(3500));
    CHECK(times.overhead + times.idle == Time());
  }
}

TEST_CASE("one beside enough computation is hidden, another for a part of it") {
  for (const std::int64_t beside : {5000, 400}) {
    const Run run =
        two_ranks(fmt::format("a: calc 3000\nb: allreduce 8b comm 1 cpu 1\nc: calc {}\nd: calc 500\n"
                              "b requires a\nc requires a\nd requires b, c\n",
                              beside));
    const Time hidden = Time::ns(std::min<std::int64_t>(beside, 1000));
    CHECK(of_class(run.of(1), "dp").hidden_mean == hidden);
    CHECK(of_class(run.of(1), "dp").exposed_mean == Time::ns(1000) - hidden);
    CHECK(run.replay.cpu_times()->exposed() == Time::ns(1000) - hidden);
  }
}

TEST_CASE("what ranks with one cpu wait for, by kind; overhead is none of it") {
  const LogGops p{.L = 1000, .o = 100, .g = 0, .G = 0, .allreduce = "recursive_doubling"};
  const std::string text =
      "num_ranks 2\n"
      "rank 0 {\na: calc 3000\nb: send 8b to 1\nc: allreduce 8b\nd: calc 500\n"
      "b requires a\nc requires b\nd requires c\n}\n"
      "rank 1 {\na: recv 8b from 0\nc: allreduce 8b\nd: calc 500\nc requires a\nd requires c\n}\n";
  const Run run(goal::parse_text(text, "test.goal"), p);
  // Rank 0 sends until 3100, rank 1 receives from 4100 to 4200. Both then send 8 bytes more: rank 0 has its
  // own out at 3200, and gets the other's, sent at 4300, at 5300; rank 1 has that of rank 0 since 4200.
  const results::CpuTimes first = run.of(0), second = run.of(1);
  CHECK(of_class(first, "allreduce").exposed_mean == Time::ns(5300 - 3200));
  CHECK(first.overhead == Time::ns(300));
  CHECK(of_class(second, "point to point").exposed_mean == Time::ns(4100));
  CHECK(of_class(second, "point to point").unsent_mean == Time::ns(3100));
  CHECK(of_class(second, "allreduce").exposed_mean == Time());
  CHECK(second.overhead == Time::ns(300));
}

TEST_CASE("the bubble of a pipeline is waiting for what has not been sent: (p-1)(F+B) of the first stage") {
  for (const std::uint32_t p : {2u, 3u, 5u}) {
    for (const std::int64_t L : {0, 1000}) {
      LogGops network = kOnlyLatency;
      network.L = L;
      const Run run(gpipe(p, 7, 20'000, 50'000), network);
      for (std::uint32_t stage = 0; stage < p; ++stage) {
        const results::CommunicationTime pp = of_class(run.of(stage), "pp");
        // F for each stage before it, then forward and backward of those behind it; each hop takes L, and
        // the last of a row is no bubble.
        const std::int64_t before = stage, behind = p - 1 - stage;
        const std::int64_t bubble = before * 20'000 + behind * 70'000;
        const std::int64_t waits = (before > 0) + (behind > 0);
        INFO(p << " stages, stage " << stage << ", latency " << L);
        CHECK(pp.exposed_mean == Time::ns(bubble + (before + 2 * behind) * L));
        CHECK(pp.unsent_mean == Time::ns(bubble + (before + 2 * behind - waits) * L));
      }
    }
  }
}

TEST_CASE("what a cpu takes up in the event that lets a message leave is no part of the message's path") {
  // The first calc of rank 0 lets another cpu send; its own goes on with a calc that nobody waits for.
  for (const std::int64_t o : {0, 100}) {
    for (const std::string what : {"send 8b to 1 cpu 1", "allreduce 8b cpu 1"}) {
      const LogGops p{.L = 1000, .o = o, .g = 0, .G = 0, .allreduce = "recursive_doubling"};
      const bool is_send = what.starts_with("send");
      const std::string text = "num_ranks 2\nrank 0 {\na: calc 3000\nb: calc 100000\nc: " + what +
                               "\nc requires a\n}\n" +
                               "rank 1 {\nc: " + (is_send ? "recv 8b from 0" : "allreduce 8b") +
                               "\nd: calc 500000\nd requires c\n}\n";
      const Run run(goal::parse_text(text, "test.goal"), p);
      INFO(what << ", o " << o);
      const results::CriticalPath path = run.replay.critical_path().value();
      CHECK(path.compute == Time::ns(503'000));
      CHECK(path.latency == Time::ns(1000));
      CHECK(path.overhead == Time::ns(2 * o));
      CHECK(path.total() == Time::ns(504'000 + 2 * o));
    }
  }
}

TEST_CASE(
    "what ends a pause is known, whether one kind of collectives is called on a communicator or several") {
  const std::string before = "a: calc 3000\nb: allreduce 8b comm 1 cpu 1\nc: calc 500\n",
                    edges = "b requires a\nc requires b\n";
  const auto exposed = [&](const std::string& comm, const std::string& more, const std::string& edge) {
    const std::string rank = before + more + edges + edge;
    std::string text = "num_ranks 2\ncomm 1 \"" + comm + "\" all\n";
    for (int r = 0; r < 2; ++r) text += fmt::format("rank {} {{\n{}}}\n", r, rank);
    return Run(goal::parse_text(text, "test.goal"), kOnlyLatency).of(0);
  };
  for (const std::string comm : {"dp 0", "all of them"}) {
    const results::CpuTimes one = exposed(comm, "", "");
    const results::CpuTimes several = exposed(comm, "d: barrier comm 1 cpu 1\n", "d requires c\n");
    const std::string name = comm == "dp 0" ? "dp" : "allreduce";
    CHECK(of_class(one, name).exposed_mean == Time::ns(1000));
    CHECK(of_class(several, name).exposed_mean + of_class(several, "barrier").exposed_mean == Time::ns(2000));
    CHECK(of_class(several, "barrier").exposed_mean == (comm == "dp 0" ? Time() : Time::ns(1000)));
    CHECK(one.idle + several.idle == Time());
  }
}

TEST_CASE("who waits in a collective for the last member waits for it, not for the network") {
  const std::int64_t computes[] = {4000, 1000, 700, 2500};
  // On one cpu two rounds are two pauses, and what the network takes of the first is the network's.
  for (const auto& [ranks, call] :
       {std::pair(2, "allreduce 8b"), {2, "allreduce 8b cpu 1"}, {4, "allreduce 8b cpu 1"}}) {
    std::string text = fmt::format("num_ranks {}\n", ranks);
    for (int r = 0; r < ranks; ++r)
      text += fmt::format("rank {} {{\na: calc {}\nb: {}\nb requires a\n}}\n", r, computes[r], call);
    const Run run(goal::parse_text(text, "test.goal"), kOnlyLatency);
    // Rank 0 has the data of rank 1 there, and gets those of rank 3 from rank 2 at 4500. Ranks 1 and 2 get
    // its own, rank 3 gets them from rank 1.
    const std::int64_t waits[] = {ranks == 4 ? 500 : 0, 1000, 1000, 2000};
    for (std::uint32_t r = 0; r < run.graph.ranks(); ++r) {
      const results::CommunicationTime own = of_class(run.of(r), "allreduce");
      INFO(call << ", rank " << r << " of " << ranks);
      CHECK(own.exposed_mean == Time::ns(4000 - computes[r] + waits[r]));
      CHECK(own.unsent_mean == Time::ns(4000 - computes[r]));
    }
  }
}

TEST_CASE("who calls after the root of a broadcast has waited for the network alone") {
  const Run run(goal::parse_text("num_ranks 3\n"
                                 "rank 0 {\na: calc 1000\nb: bcast 8b root 0 by linear\nb requires a\n}\n"
                                 "rank 1 {\na: calc 1300\nb: bcast 8b root 0 by linear\nb requires a\n}\n"
                                 "rank 2 {\na: calc 400\nb: bcast 8b root 0 by linear\nb requires a\n}\n",
                                 "test.goal"),
                kOnlyLatency);
  CHECK(of_class(run.of(1), "bcast").exposed_mean == Time::ns(700));
  CHECK(of_class(run.of(1), "bcast").unsent_mean == Time());
  CHECK(of_class(run.of(2), "bcast").exposed_mean == Time::ns(1600));
  CHECK(of_class(run.of(2), "bcast").unsent_mean == Time::ns(600));
}

TEST_CASE("waiting for another cpu that computes is idle, and no communication") {
  const Run run = two_ranks("a: calc 100\nb: calc 700 cpu 1\nc: calc 100\nb requires a\nc requires b\n");
  CHECK(run.of(0).idle == Time::ns(700));
  CHECK(run.of(0).exposed() == Time());
}

TEST_CASE("times add up, whatever a program does") {
  std::uint64_t ranks = 0, single = 0, waited = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    LogGops p;
    p.o = seed % 2 == 0 ? 100 : 0;
    p.S = seed % 3 == 0 ? 1000 : 1 << 20;
    const Run run(random_program(seed, {.sparse_cpus = seed % 5 == 0}).graph(), p);
    if (!run.replay.complete()) continue;
    const std::vector<results::Rank> rows = run.replay.ranks();
    for (std::uint32_t r = 0; r < rows.size(); ++r) {
      const results::CpuTimes times = run.of(r);
      INFO("seed " << seed << ", rank " << r);
      CHECK(times.all() == rows[r].finish);
      CHECK(times.compute == calcs_of_first_cpu(run.graph, r));
      CHECK(std::min(times.overhead, times.idle) >= Time());
      ++ranks;
      waited += times.exposed() > Time();
      if (!has_one_cpu(run.graph, r)) continue;
      // What has been counted apart from this: nothing but communication makes such a rank wait.
      ++single;
      CHECK(times.overhead == rows[r].overhead);
      CHECK(times.exposed() == rows[r].waiting);
    }
  }
  CHECK(ranks > 500);
  CHECK(single > 20);
  CHECK(waited > 200);
}
