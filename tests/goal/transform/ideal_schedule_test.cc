#include "goal/transform/ideal_schedule.h"

#include <catch2/catch.hpp>

#include "goal/text/text.h"
#include "sim/units/input_error.h"
#include "tests/goal/transform/chains.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::goal;

namespace {

IdealSchedule of_text(const std::string& text, const IdealOptions& options = {}) {
  return ideal_schedule(parse_text(text, "test"), options);
}

// When each rank finishes in a replay in which only latency and compute cost anything.
std::vector<std::int64_t> replayed(const Graph& graph, std::int64_t latency, bool* complete) {
  const sim::LogGopsRun run(graph, {.L = latency, .o = 0, .g = 0, .G = 0});
  *complete = run.replay.complete();
  return run.finish();
}

std::vector<std::int64_t> finish_of_ranks(const Graph& graph, const IdealSchedule& schedule) {
  std::vector<std::int64_t> finish(graph.ranks(), 0);
  for (Rank r = 0; r < graph.ranks(); ++r) {
    for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) {
      const std::uint64_t end = schedule.finish_ns[graph.rank(r).first_op() + i];
      if (end != kNever) finish[r] = std::max(finish[r], static_cast<std::int64_t>(end));
    }
  }
  return finish;
}

}  // namespace

TEST_CASE("random programs end when a replay without costs ends them") {
  int complete_runs = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Graph graph = random_chains(seed).graph();
    INFO("seed " << seed);
    bool complete = false;
    const std::vector<std::int64_t> expected = replayed(graph, 0, &complete);
    const IdealSchedule schedule = ideal_schedule(graph);
    REQUIRE((schedule.unfinished == 0) == complete);
    REQUIRE(finish_of_ranks(graph, schedule) == expected);
    complete_runs += complete;
    // What the path passes through is what the run took.
    if (complete) REQUIRE(critical_path(graph, schedule).calc_ns == schedule.makespan_ns);
  }
  REQUIRE(complete_runs > 200);
}

TEST_CASE("with latency, without collectives") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const sim::Program program = random_chains(seed);
    if (!program.collectives.empty()) continue;
    const Graph graph = program.graph();
    INFO("seed " << seed);
    bool complete = false;
    const std::vector<std::int64_t> expected = replayed(graph, 137, &complete);
    const IdealSchedule schedule = ideal_schedule(graph, {.message_ns = 137});
    REQUIRE(finish_of_ranks(graph, schedule) == expected);
    const CriticalPath path = critical_path(graph, schedule);
    if (complete) REQUIRE(path.calc_ns + 137 * path.messages == schedule.makespan_ns);
  }
}

TEST_CASE("whatever the order of ties, the path's calcs and messages add up to the makespan") {
  int runs = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Graph graph = sim::random_program(seed, {.wildcards = true, .sparse_cpus = true}).graph();
    for (const std::uint64_t latency : {0, 137}) {
      const IdealSchedule schedule = ideal_schedule(graph, {.message_ns = latency});
      const CriticalPath path = critical_path(graph, schedule);
      INFO("seed " << seed);
      REQUIRE(path.calc_ns + latency * path.messages == schedule.makespan_ns);
      runs += path.messages > 0;
    }
    const IdealSchedule only_messages = ideal_schedule(graph, {.message_ns = 1, .calc = false});
    REQUIRE(critical_path(graph, only_messages).messages == only_messages.makespan_ns);
  }
  REQUIRE(runs > 100);
}

TEST_CASE("partners are the sends and receives of one message") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Graph graph = sim::random_program(seed, {.wildcards = true}).graph();
    const IdealSchedule schedule = ideal_schedule(graph);
    const OpPlaces places(graph);
    for (Rank r = 0; r < graph.ranks(); ++r) {
      for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) {
        const GlobalOp partner = schedule.partner[places.global(r, i)];
        if (partner == kNoOp) continue;
        REQUIRE(schedule.partner[partner] == places.global(r, i));
        if (graph.rank(r).kind(i) != OpKind::kRecv) continue;
        const auto [source, index] = places.place(partner);
        const Op recv = graph.rank(r).op(i), send = graph.rank(source).op(index);
        REQUIRE(send.kind == OpKind::kSend);
        REQUIRE(send.peer == r);
        REQUIRE(send.comm == recv.comm);
        REQUIRE((recv.peer == kAny || recv.peer == source));
        REQUIRE((recv.tag == kAny || send.tag == kAny || recv.tag == send.tag));
        REQUIRE(schedule.finish_ns[places.global(r, i)] >= schedule.start_ns[partner]);
      }
    }
  }
}

TEST_CASE("collectives wait for those whose data they need, and for no one else") {
  // Rank r calls after 10 (r + 1) ns.
  const auto finish = [](const std::string& collective) {
    std::string text = "num_ranks 3\n";
    for (int r = 0; r < 3; ++r) {
      text += "rank " + std::to_string(r) + " {\na: calc " + std::to_string(10 * (r + 1)) +
              "\nb: " + collective + "\nb requires a\n}\n";
    }
    const IdealSchedule schedule = of_text(text);
    return std::vector<std::uint64_t>{schedule.finish_ns[1], schedule.finish_ns[3], schedule.finish_ns[5]};
  };
  using Times = std::vector<std::uint64_t>;
  for (const char* all : {"barrier", "allreduce 8b", "allgather 8b", "alltoall 8b", "reduce_scatter 8b"}) {
    REQUIRE(finish(all) == Times{30, 30, 30});
  }
  REQUIRE(finish("bcast 8b root 1") == Times{20, 20, 30});
  REQUIRE(finish("scatter 8b root 0") == Times{10, 20, 30});
  REQUIRE(finish("reduce 8b root 1") == Times{10, 30, 30});
  REQUIRE(finish("gather 8b root 0") == Times{30, 20, 30});
  REQUIRE(finish("scan 8b") == Times{10, 20, 30});
}

TEST_CASE("neighbors wait for those they hear from") {
  // Rank r calls after 10 (r + 1) ns; 0 hears from 2, 1 from nobody, 2 from 0 and 1.
  const std::string lists[] = {"to [2] from [2]", "to [2] from []", "to [0] from [0 1]"};
  std::string text = "num_ranks 3\n";
  for (int r = 0; r < 3; ++r) {
    text += "rank " + std::to_string(r) + " {\na: calc " + std::to_string(10 * (r + 1)) +
            "\nb: neighbor_allgather 8b " + lists[r] + "\nb requires a\n}\n";
  }
  const IdealSchedule schedule = of_text(text);
  REQUIRE(schedule.finish_ns[1] == 30);
  REQUIRE(schedule.finish_ns[3] == 20);
  REQUIRE(schedule.finish_ns[5] == 30);
}

TEST_CASE("the critical path counts messages, bytes and collectives on it") {
  // 100 ns on rank 0, a message, 50 ns on rank 1, a barrier; rank 2's 120 ns are off the path.
  const std::string text =
      "num_ranks 3\nrank 0 {\na: calc 100\nb: send 4096b to 1\nb requires a\nz: barrier\nz requires b\n}\n"
      "rank 1 {\na: recv 4096b from 0\nb: calc 50\nb requires a\nz: barrier\nz requires b\n}\n"
      "rank 2 {\na: calc 120\nz: barrier\nz requires a\nc: calc 7\nc requires z\n}\n";
  const Graph graph = parse_text(text, "test");
  const IdealSchedule schedule = ideal_schedule(graph);
  const CriticalPath path = critical_path(graph, schedule);
  REQUIRE(schedule.makespan_ns == 157);
  REQUIRE(path.calc_ns == 157);
  REQUIRE(path.messages == 1);
  REQUIRE(path.bytes == 4096);
  REQUIRE(path.last_rank == 2);
  REQUIRE(path.collectives == 1);
}

TEST_CASE("programs that can't run to their end are told from those that can") {
  const IdealSchedule circle = of_text(
      "num_ranks 2\nrank 0 {\na: recv 1b from 1\nb: send 1b to 1\nb requires a\n}\n"
      "rank 1 {\na: recv 1b from 0\nb: send 1b to 0\nb requires a\ncalc 5\n}\n");
  REQUIRE(circle.unfinished == 4);
  REQUIRE(circle.makespan_ns == 5);
  REQUIRE_THROWS_WITH(require_complete(circle, "slice"), Catch::Contains("slice: 4 operations"));
}

TEST_CASE("wrong graphs are refused") {
  REQUIRE_THROWS_WITH(of_text("num_ranks 2\nrank 0 {\nallreduce 8b\n}\nrank 1 {\nbarrier\n}\n"),
                      Catch::Contains("disagree"));
  REQUIRE_THROWS_WITH(
      of_text("num_ranks 1\nrank 0 {\na: calc 4611686018427387904\nb: calc 9\nb requires a\n}\n"),
      Catch::Contains("2^62"));
  GraphBuilder builder;
  builder.add_send(1, 7);
  builder.end_rank();
  REQUIRE_THROWS_WITH(ideal_schedule(builder.finish()), Catch::Contains("does not exist"));
}
