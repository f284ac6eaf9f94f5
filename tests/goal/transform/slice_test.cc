#include "goal/transform/slice.h"

#include <catch2/catch.hpp>

#include "goal/check/check.h"
#include "goal/text/text.h"
#include "goal/transform/ideal_schedule.h"
#include "sim/units/input_error.h"
#include "tests/goal/random_graph.h"
#include "tests/goal/transform/chains.h"

using namespace weft;
using namespace weft::goal;

namespace {

std::uint64_t count_of(const std::vector<Anomaly>& anomalies, const std::string& name) {
  for (const Anomaly& anomaly : anomalies) {
    if (anomaly.name == name) return anomaly.count;
  }
  return 0;
}

double calc_time(const Graph& graph) {
  double sum = 0;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) {
      if (graph.rank(r).kind(i) == OpKind::kCalc) sum += static_cast<double>(graph.rank(r).value(i));
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("a slice of everything is the whole") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Graph graph = sim::random_program(seed, {}).graph();
    REQUIRE(slice(graph, {.ranks = RankList("all", graph.ranks(), "x")}) == graph);
    const IdealSchedule schedule = ideal_schedule(graph);
    if (schedule.unfinished > 0) continue;
    std::vector<Anomaly> anomalies;
    REQUIRE(slice(graph, {.from_ns = 0, .to_ns = schedule.makespan_ns + 1}, &anomalies) == graph);
    REQUIRE(anomalies.empty());
  }
}

TEST_CASE("ranks are numbered as they are named, and twice turned around is the same graph") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Graph graph = sim::random_program(seed, {}).graph();
    std::string backwards;
    for (Rank r = graph.ranks(); r-- > 0;) backwards += std::to_string(r) + (r > 0 ? "," : "");
    const SliceOptions turned{.ranks = RankList(backwards, graph.ranks(), "x")};
    const Graph once = slice(graph, turned);
    INFO("seed " << seed << "\n" << to_text(graph) << to_text(once));
    for (Rank r = 0; r < graph.ranks(); ++r) {
      REQUIRE(once.rank(r).ops() == graph.rank(graph.ranks() - 1 - r).ops());
    }
    REQUIRE(slice(once, turned) == graph);
  }
}

TEST_CASE("a slice of ranks has nothing unmatched, and every lost partner is counted") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = sim::random_program(seed, {.wildcards = true}).graph();
    if (graph.ranks() < 3 || ideal_schedule(graph).unfinished > 0) continue;
    std::vector<Anomaly> anomalies;
    const Graph part = slice(graph, {.ranks = RankList("0,2", graph.ranks(), "x")}, &anomalies);
    INFO("seed " << seed << "\n" << to_text(graph) << to_text(part));
    REQUIRE(part.ranks() == 2);
    REQUIRE(part.ops() == graph.rank(0).ops() + graph.rank(2).ops());
    REQUIRE_FALSE(check(part).has_errors());
    std::uint64_t sends = 0;
    for (const Rank r : {0u, 2u}) {
      for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) {
        const Op op = graph.rank(r).op(i);
        sends += op.kind == OpKind::kSend && op.peer != 0 && op.peer != 2;
      }
    }
    REQUIRE(count_of(anomalies, "sends_cut") == sends);
  }
}

TEST_CASE("slices of time side by side hold all compute, each no longer than its stretch") {
  int slices = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Graph graph = random_chains_of_messages(seed).graph();
    const IdealSchedule schedule = ideal_schedule(graph);
    if (schedule.unfinished > 0 || schedule.makespan_ns < 30) continue;
    const std::uint64_t third = schedule.makespan_ns / 3;
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      const std::uint64_t from = third * static_cast<std::uint64_t>(k);
      const std::uint64_t to = k == 2 ? schedule.makespan_ns + 1 : from + third;
      const Graph part = slice(graph, {.from_ns = from, .to_ns = to});
      INFO("seed " << seed << ", part " << k << "\n" << to_text(graph) << to_text(part));
      REQUIRE_FALSE(check(part).has_errors());
      const IdealSchedule ideal = ideal_schedule(part);
      REQUIRE(ideal.unfinished == 0);
      REQUIRE(ideal.makespan_ns <= to - from);
      sum += calc_time(part);
      ++slices;
    }
    REQUIRE(sum == calc_time(graph));
  }
  REQUIRE(slices > 100);
}

TEST_CASE("calcs are cut where the stretch begins and ends; messages from before are there at once") {
  const Graph graph = parse_text(
      "num_ranks 2\nrank 0 {\na: send 8b to 1\nb: calc 100\nb requires a\nc: send 9b to 1\nc requires b\n}\n"
      "rank 1 {\na: calc 60\nb: recv 8b from 0\nb requires a\nc: calc 30\nc requires b\nd: recv 9b from 0\n"
      "d requires c\n}\n",
      "test");
  std::vector<Anomaly> anomalies;
  const Graph part = slice(graph, {.from_ns = 40, .to_ns = 80}, &anomalies);
  REQUIRE(
      part ==
      parse_text("num_ranks 2\n\nrank 0 {\ncalc 40\n}\n\nrank 1 {\nl1: calc 20\nl2: calc 0\nl2 requires l1\n"
                 "l3: calc 20\nl3 requires l2\n}\n",
                 "expected"));
  REQUIRE(count_of(anomalies, "calcs_cut") == 3);
  REQUIRE(count_of(anomalies, "receives_cut") == 1);
}

TEST_CASE("collectives among the ranks that stay") {
  const Graph graph = parse_text(
      "num_ranks 4\ncomm 1 \"odd\" { 1 3 }\n"
      "rank 0 {\nallgather [1 2 3 4]b\nbcast 8b root 3\n}\n"
      "rank 1 {\nallgather [1 2 3 4]b\nbarrier comm 1\nbcast 8b root 3\n}\n"
      "rank 2 {\nallgather [1 2 3 4]b\nbcast 8b root 3\n}\n"
      "rank 3 {\nallgather [1 2 3 4]b\nbarrier comm 1\nbcast 8b root 3\n}\n",
      "test");
  std::vector<Anomaly> anomalies;
  const Graph part = slice(graph, {.ranks = RankList("1-2", 4, "x")}, &anomalies);
  REQUIRE(check(part).clean());
  REQUIRE(part.rank(0).collective(0).counts == std::vector<std::uint64_t>{2, 3});
  REQUIRE(part.communicators()[1].ranks == std::vector<Rank>{0});
  REQUIRE(part.rank(1).collective(1).root == 0);
  REQUIRE(count_of(anomalies, "roots_moved") == 2);
  REQUIRE(count_of(anomalies, "collectives_shrunk") == 5);
  const Graph last = slice(graph, {.ranks = RankList("2,3", 4, "x")});
  REQUIRE(last.rank(0).collective(1).root == 1);
}

TEST_CASE("neighbors that stay keep their blocks") {
  const Graph graph = parse_text(
      "num_ranks 4\n"
      "rank 0 {\nneighbor_alltoall [1 2 3]b receives [7]b to [1 3 2] from [3]\n}\n"
      "rank 1 {\nneighbor_alltoall []b receives [1]b to [] from [0]\n}\n"
      "rank 2 {\nneighbor_alltoall []b receives [3]b to [] from [0]\n}\n"
      "rank 3 {\nneighbor_alltoall [7]b receives [2]b to [0] from [0]\n}\n",
      "test");
  REQUIRE(check(graph).clean());
  const Graph part = slice(graph, {.ranks = RankList("0,2-3", 4, "x")});
  REQUIRE(check(part).clean());
  const Collective& first = part.rank(0).collective(0);
  REQUIRE(first.destinations == std::vector<std::uint32_t>{2, 1});
  REQUIRE(first.counts == std::vector<std::uint64_t>{2, 3});
  REQUIRE(first.sources == std::vector<std::uint32_t>{2});
  REQUIRE(first.receive_counts == std::vector<std::uint64_t>{7});
}

TEST_CASE("a collective on the edge of a stretch is left out on all") {
  // A bcast's root is through at 10 ns, the others come at 50.
  const Graph graph = parse_text(
      "num_ranks 2\nrank 0 {\na: calc 10\nb: bcast 8b\nb requires a\nc: calc 90\nc requires b\n}\n"
      "rank 1 {\na: calc 50\nb: bcast 8b\nb requires a\n}\n",
      "test");
  std::vector<Anomaly> anomalies;
  const Graph part = slice(graph, {.from_ns = 20}, &anomalies);
  REQUIRE(count_of(anomalies, "collectives_cut") == 1);
  REQUIRE(part ==
          parse_text(
              "num_ranks 2\n\nrank 0 {\ncalc 80\n}\n\nrank 1 {\nl1: calc 30\nl2: calc 0\nl2 requires l1\n}\n",
              "expected"));
}

TEST_CASE("slices that make no sense are refused") {
  const Graph graph = parse_text("num_ranks 1\nrank 0 {\nrecv 8b from 0\n}\n", "test");
  REQUIRE_THROWS_WITH(slice(graph, {.from_ns = 5, .to_ns = 5}), Catch::Contains("is empty"));
  REQUIRE_THROWS_WITH(slice(graph, {.from_ns = 5}), Catch::Contains("can never run"));
  REQUIRE(slice(graph, {}) == graph);
}
