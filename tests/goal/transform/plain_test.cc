#include "goal/transform/plain.h"

#include <catch2/catch.hpp>

#include "goal/check/check.h"
#include "goal/text/text.h"
#include "goal/transform/ideal_schedule.h"
#include "sim/units/input_error.h"
#include "tests/goal/random_graph.h"
#include "tests/goal/transform/chains.h"

using namespace weft;
using namespace weft::goal;

TEST_CASE("without communicators messages meet as before, operation by operation") {
  int folded = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = random_chains_of_messages(seed).graph();
    const Graph plain = fold_communicators(graph);
    INFO("seed " << seed << "\n" << to_text(graph) << to_text(plain));
    REQUIRE(plain.communicators().size() == 1);
    const IdealSchedule before = ideal_schedule(graph), after = ideal_schedule(plain);
    REQUIRE(before.partner == after.partner);
    REQUIRE(before.finish_ns == after.finish_ns);
    folded += graph.communicators().size() > 1;
  }
  REQUIRE(folded > 50);
}

TEST_CASE("a graph that is plain already stays as it is") {
  RandomGraphOptions options;
  options.collectives = false;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Graph graph = random_graph(seed, options);
    REQUIRE(fold_communicators(graph) == graph);
    REQUIRE(to_text(fold_communicators(graph)) == to_text(graph));
  }
}

TEST_CASE("synchronous sends become standard ones, and are counted") {
  const Graph graph = parse_text(
      "num_ranks 2\nrank 0 {\nsend 1b to 1 sync\nsend 1b to 1\nsend 2b to 1 tag 3 sync\n}\n"
      "rank 1 {\nrecv 1b from 0\nrecv 1b from 0\nrecv 2b from 0 tag 3\n}\n",
      "test");
  std::vector<Anomaly> anomalies;
  const Graph plain = fold_communicators(graph, &anomalies);
  REQUIRE(anomalies.size() == 1);
  CHECK(anomalies[0].name == "synchronous_sends_lost");
  CHECK(anomalies[0].count == 2);
  CHECK(to_text(plain).find("sync") == std::string::npos);
  CHECK(to_text(graph).find("sync") != std::string::npos);
}

TEST_CASE("tags of other communicators follow the highest of the world") {
  const Graph graph = parse_text(
      "num_ranks 2\ncomm 1 \"a\" all\ncomm 2 \"b\" all\n"
      "rank 0 {\nsend 1b to 1 tag 7\nsend 1b to 1 tag 7 comm 2\nsend 1b to 1 tag 9 comm 1\nsend 1b to 1 tag "
      "3 comm 1\n}\n"
      "rank 1 {\nrecv 1b from 0 tag 7\nrecv 1b from 0 tag 7 comm 2\nrecv 1b from 0 tag 9 comm 1\n"
      "recv 1b from 0 tag 3 comm 1\n}\n",
      "test");
  const Graph plain = fold_communicators(graph);
  for (const Rank r : {0u, 1u}) {
    REQUIRE(plain.rank(r).tag(0) == 7);
    REQUIRE(plain.rank(r).tag(1) == 10);
    REQUIRE(plain.rank(r).tag(2) == 9);
    REQUIRE(plain.rank(r).tag(3) == 8);
  }
}

TEST_CASE("receives of any tag are bound where they could take a message of another communicator") {
  const std::string text =
      "num_ranks 2\ncomm 1 \"a\" all\n"
      "rank 0 {\na: send 1b to 1 tag 5 COMM\nb: send 2b to 1 tag 6\nb requires a\n}\n"
      "rank 1 {\nrecv 2b from 0 tag -1\nrecv 1b from -1 tag -1 COMM\n}\n";
  const auto graph = [&](const std::string& comm) {
    std::string filled = text;
    for (std::size_t at; (at = filled.find("COMM")) != std::string::npos;) filled.replace(at, 4, comm);
    return parse_text(filled, "test");
  };
  std::vector<Anomaly> anomalies;
  const Graph plain = fold_communicators(graph("comm 1"), &anomalies);
  REQUIRE(check(plain).clean());
  REQUIRE(plain.rank(1).tag(0) == 6);
  REQUIRE(plain.rank(1).tag(1) == 7);
  REQUIRE(plain.rank(1).peer(1) == kAny);
  REQUIRE(anomalies.size() == 1);
  REQUIRE(anomalies[0].count == 2);
  REQUIRE(fold_communicators(graph(""), nullptr).rank(1).tag(0) == kAny);
}

TEST_CASE("collectives and too many tags are refused") {
  REQUIRE_THROWS_WITH(fold_communicators(parse_text("num_ranks 1\nrank 0 {\nbarrier\n}\n", "test")),
                      Catch::Contains("operation 0 of rank 0 is a collective"));
  const Graph graph = parse_text(
      "num_ranks 1\ncomm 1 \"a\" all\nrank 0 {\nsend 1b to 0 tag 2147483647\nsend 1b to 0 comm 1\n"
      "recv 1b from 0 tag 2147483647\nrecv 1b from 0 comm 1\n}\n",
      "test");
  REQUIRE_THROWS_WITH(fold_communicators(graph), Catch::Contains("tags up to 2147483648"));
}
