#include "goal/transform/merge.h"

#include <catch2/catch.hpp>

#include "goal/check/check.h"
#include "goal/text/text.h"
#include "goal/transform/ideal_schedule.h"
#include "tests/goal/random_graph.h"

using namespace weft::goal;

TEST_CASE("one job alone comes out as it went in, labels too") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Graph graph = random_graph(seed);
    const MergeJob job{&graph, "only"};
    const Graph merged = merge({&job, 1});
    INFO("seed " << seed);
    REQUIRE(merged == graph);
    REQUIRE(to_text(merged) == to_text(graph));
  }
}

TEST_CASE(
    "each rank does in the merged graph what it did alone, with shifted peers and a communicator apart") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Graph graphs[] = {random_graph(3 * seed), random_graph(3 * seed + 1), random_graph(3 * seed)};
    const MergeJob jobs[] = {{&graphs[0], "a"}, {&graphs[1], "b"}, {&graphs[2], "a"}};
    const Graph merged = merge(jobs);
    INFO("seed " << seed);
    REQUIRE(merged.ranks() == graphs[0].ranks() + graphs[1].ranks() + graphs[2].ranks());
    Rank base = 0;
    std::vector<std::uint32_t> used_by(merged.communicators().size(), kAny);  // job
    for (std::uint32_t j = 0; j < 3; ++j) {
      for (Rank r = 0; r < graphs[j].ranks(); ++r) {
        const RankView before = graphs[j].rank(r), after = merged.rank(base + r);
        REQUIRE(before.ops() == after.ops());
        for (OpIndex i = 0; i < before.ops(); ++i) {
          REQUIRE(std::ranges::equal(before.dependents(i), after.dependents(i)));
          const Op a = before.op(i), b = after.op(i);
          REQUIRE(a.kind == b.kind);
          REQUIRE((a.cpu == b.cpu && a.nic == b.nic && a.tag == b.tag && a.value == b.value));
          if (a.kind == OpKind::kCalc) continue;
          // Communicators of two jobs are never the same, and hold the same ranks, shifted.
          REQUIRE((used_by[b.comm] == kAny || used_by[b.comm] == j));
          used_by[b.comm] = j;
          REQUIRE(b.comm != kWorld);
          REQUIRE(merged.communicator_size(b.comm) == graphs[j].communicator_size(a.comm));
          for (std::uint32_t m = 0; m < graphs[j].communicator_size(a.comm); ++m) {
            REQUIRE(merged.world_rank(b.comm, m) == graphs[j].world_rank(a.comm, m) + base);
          }
          if (a.kind == OpKind::kCollective) {
            Collective expected = before.collective(i);
            expected.comm = b.comm;
            REQUIRE(after.collective(i) == expected);
          } else {
            REQUIRE(b.peer == (a.peer == kAny ? kAny : a.peer + base));
          }
        }
      }
      base += graphs[j].ranks();
    }
  }
}

TEST_CASE("two communicators of one job stay two, whatever their names") {
  // An "all" under the name of the world looks like the world once both are lists of ranks.
  const Graph graph = parse_text(
      "num_ranks 2\ncomm 1 \"world\" { 0-1 }\n"
      "rank 0 {\nsend 8b to 1 tag 1\n}\nrank 1 {\nrecv 8b from 0 tag 1 comm 1\n}\n",
      "test");
  REQUIRE(check(graph).counts[static_cast<int>(FindingKind::kUnmatchedSend)] == 1);
  const MergeJob jobs[] = {{&graph, "a"}, {&graph, "a"}};
  REQUIRE(check(merge(jobs)).counts[static_cast<int>(FindingKind::kUnmatchedSend)] == 2);
}

TEST_CASE("jobs side by side take as long as the longest") {
  const std::string body = " {\na: calc NS\nb: allreduce 8b\nb requires a\nc: recv 1b from -1 tag -1\n}\n";
  const auto job = [&](const std::string& ns) {
    std::string one = body;
    one.replace(one.find("NS"), 2, ns);
    return parse_text("num_ranks 2\nrank 0" + one + "rank 1" +
                          " {\nx: calc 5\ny: allreduce 8b\ny requires x\nz: send 1b to 0 tag 9\n}\n",
                      "test");
  };
  const Graph slow = job("70"), fast = job("20");
  const MergeJob jobs[] = {{&fast, "a"}, {&slow, "b"}};
  const Graph merged = merge(jobs);
  REQUIRE(check(merged).clean());
  const IdealSchedule schedule = ideal_schedule(merged);
  REQUIRE(schedule.unfinished == 0);
  REQUIRE(schedule.makespan_ns == 70);
  REQUIRE(schedule.finish_ns[1] == 20);
}
