#include "goal/transform/scale.h"

#include <catch2/catch.hpp>

#include "goal/text/text.h"
#include "goal/transform/ideal_schedule.h"
#include "sim/units/input_error.h"
#include "tests/goal/random_graph.h"

using namespace weft::goal;

namespace {

Graph scaled(const Graph& graph, double factor) {
  const ScaleRule rule{.factor = factor};
  return scale(graph, {&rule, 1});
}

}  // namespace

TEST_CASE("a factor of 1 changes nothing, however long the calcs are") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Graph graph = random_graph(seed);
    REQUIRE(scaled(graph, 1) == graph);
    REQUIRE(to_text(scaled(graph, 1)) == to_text(graph));
  }
}

TEST_CASE("twice the compute time is twice the critical path, where nothing else takes time") {
  RandomGraphOptions options;
  options.wide = false;
  options.collectives = false;
  int finished = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Graph graph = random_graph(seed, options);
    const IdealSchedule once = ideal_schedule(graph), twice = ideal_schedule(scaled(graph, 2));
    INFO("seed " << seed);
    REQUIRE(twice.makespan_ns == 2 * once.makespan_ns);
    REQUIRE(twice.partner == once.partner);
    finished += once.makespan_ns > 0;
  }
  REQUIRE(finished > 50);
}

TEST_CASE("rules take the ranks and the cpu they name, multiply, and round to the nearest") {
  const Graph graph = parse_text(
      "num_ranks 3\nrank 0 {\ncalc 100\ncalc 100 cpu 1\n}\nrank 1 {\ncalc 100\nsend 100b to 2\n}\n"
      "rank 2 {\ncalc 7\nrecv 100b from 1\n}\n",
      "test");
  const ScaleRule rules[] = {{.factor = 0.5, .ranks = RankList("0,2", 3, "x")},
                             {.factor = 3, .cpu = std::uint16_t{1}},
                             {.factor = 0.1, .ranks = RankList("1", 3, "x")}};
  const Graph result = scale(graph, rules);
  REQUIRE(result.rank(0).value(0) == 50);
  REQUIRE(result.rank(0).value(1) == 150);
  REQUIRE(result.rank(1).value(0) == 10);
  REQUIRE(result.rank(1).value(1) == 100);  // bytes are no time
  REQUIRE(result.rank(2).value(0) == 4);    // 3.5
}

TEST_CASE("factors that are none, and times past all limits, are refused") {
  const Graph graph = parse_text("num_ranks 1\nrank 0 {\ncalc 4611686018427387904\n}\n", "test");
  REQUIRE_THROWS_AS(scaled(graph, -1), weft::InputError);
  REQUIRE_THROWS_AS(scaled(graph, 0.0 / 0.0), weft::InputError);
  REQUIRE_THROWS_WITH(scaled(graph, 1.5), Catch::Contains("longer than 2^62 ns"));
}

TEST_CASE("rank lists") {
  const auto ranks = [](const char* text) { return RankList(text, 10, "--ranks").ranks(); };
  REQUIRE(ranks("3") == std::vector<Rank>{3});
  REQUIRE(ranks("8,0-2,2-4") == std::vector<Rank>{0, 1, 2, 3, 4, 8});
  REQUIRE(ranks("all").size() == 10);
  for (const char* text : {"", "3-", "-3", "a", "1,,2", "3-1", "1;2"}) {
    INFO(text);
    REQUIRE_THROWS_WITH(ranks(text), Catch::StartsWith("--ranks: "));
  }
  REQUIRE_THROWS_WITH(ranks("10"), Catch::Contains("rank 10 does not exist; the graph has 10"));
  CHECK(RankList("6-8,0-2,7,1", 10, "x").ranks_as_named() == std::vector<Rank>{6, 7, 8, 0, 1, 2});
  const RankList list("0-2,5", 10, "x");
  REQUIRE((list.contains(0) && list.contains(2) && list.contains(5)));
  REQUIRE_FALSE((list.contains(3) || list.contains(4) || list.contains(6)));
}
