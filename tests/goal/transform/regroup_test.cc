#include "goal/transform/regroup.h"

#include <catch2/catch.hpp>

#include "goal/check/check.h"
#include "goal/text/text.h"
#include "goal/transform/ideal_schedule.h"
#include "sim/units/input_error.h"
#include "tests/goal/transform/chains.h"

using namespace weft;
using namespace weft::goal;

namespace {

// As fast as a bandwidth can be: less than half a nanosecond for what random programs send.
constexpr Bandwidth kInstant = Bandwidth::gbps(1000000);

std::uint64_t sum_of(const Graph& graph, OpKind kind) {
  std::uint64_t sum = 0;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) {
      if (graph.rank(r).kind(i) == kind) sum += graph.rank(r).value(i);
    }
  }
  return sum;
}

bool sends_to_itself(const Graph& graph) {
  for (Rank r = 0; r < graph.ranks(); ++r) {
    for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) {
      if (graph.rank(r).kind(i) == OpKind::kSend && graph.rank(r).peer(i) == r) return true;
    }
  }
  return false;
}

std::uint64_t count_of(const std::vector<Anomaly>& anomalies, const std::string& name) {
  for (const Anomaly& anomaly : anomalies) {
    if (anomaly.name == name) return anomaly.count;
  }
  return 0;
}

}  // namespace

TEST_CASE("one rank a node changes nothing but messages to oneself") {
  int same = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = random_chains(seed).graph();
    if (ideal_schedule(graph).unfinished > 0 || sends_to_itself(graph)) continue;
    REQUIRE(regroup(graph, {.ranks_per_node = 1}) == graph);
    ++same;
  }
  REQUIRE(same > 20);
}

TEST_CASE("with free copies nodes end when their ranks did, and nothing is left unmatched") {
  int runs = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Graph graph = random_chains_of_messages(seed).graph();
    const IdealSchedule before = ideal_schedule(graph);
    if (before.unfinished > 0) continue;
    for (const std::uint32_t size : {2u, 3u, 100u}) {
      std::vector<Anomaly> anomalies;
      const Graph nodes = regroup(graph, {.ranks_per_node = size, .copy_bandwidth = kInstant}, &anomalies);
      INFO("seed " << seed << ", " << size << " a node\n" << to_text(graph) << to_text(nodes));
      REQUIRE(nodes.ranks() == (graph.ranks() + size - 1) / size);
      REQUIRE_FALSE(check(nodes).has_errors());
      const IdealSchedule after = ideal_schedule(nodes);
      REQUIRE(after.unfinished == 0);
      REQUIRE(after.makespan_ns == before.makespan_ns);
      // Bytes between nodes stay, those within are gone.
      std::uint64_t between = 0, within = 0;
      for (Rank r = 0; r < graph.ranks(); ++r) {
        for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) {
          const Op op = graph.rank(r).op(i);
          if (op.kind != OpKind::kSend) continue;
          const bool local = op.peer / size == r / size;
          between += local ? 0 : op.value;
          within += local;
        }
      }
      REQUIRE(sum_of(nodes, OpKind::kSend) == between);
      REQUIRE(sum_of(nodes, OpKind::kCalc) == sum_of(graph, OpKind::kCalc));
      REQUIRE(count_of(anomalies, "local_copies") == within);
      ++runs;
    }
  }
  REQUIRE(runs > 200);
}

TEST_CASE("a copy takes latency and bytes, and holds up both sides") {
  // 100 ns of calc, then 1000 bytes at 8 Gb/s and 50 ns of latency: 1050 ns; then 10 ns on the receiver.
  const Graph graph = parse_text(
      "num_ranks 2\nrank 0 {\na: calc 100\nb: send 1000b to 1\nb requires a\n}\n"
      "rank 1 {\na: recv 1000b from 0\nb: calc 10\nb requires a\n}\n",
      "test");
  const Graph node = regroup(
      graph, {.ranks_per_node = 2, .copy_latency = Time::ns(50), .copy_bandwidth = Bandwidth::gbps(8)});
  REQUIRE(node.ranks() == 1);
  const IdealSchedule schedule = ideal_schedule(node);
  REQUIRE(schedule.makespan_ns == 100 + 50 + 1000 + 10);
  REQUIRE(node.rank(0).cpu(3) == 1);  // the second rank's stream
}

TEST_CASE("a posted receive does not hold up who waits for its posting") {
  // Rank 1 posts the receive and computes meanwhile: 500 ns, as the copy ends after 300.
  const Graph graph = parse_text(
      "num_ranks 2\nrank 0 {\na: calc 300\nb: send 1b to 1\nb requires a\n}\n"
      "rank 1 {\na: recv 1b from 0\nb: calc 500\nb irequires a\nc: calc 7\nc requires a,b\n}\n",
      "test");
  const IdealSchedule schedule =
      ideal_schedule(regroup(graph, {.ranks_per_node = 2, .copy_bandwidth = kInstant}));
  REQUIRE(schedule.makespan_ns == 507);
}

TEST_CASE("messages of different members with one tag do not meet each other") {
  // Both ranks of node 0 send tag 0 to one of node 1 each; the second's is there first.
  const Graph graph = parse_text(
      "num_ranks 4\nrank 0 {\na: calc 1000\nb: send 8b to 2\nb requires a\n}\nrank 1 {\nsend 8b to 3\n}\n"
      "rank 2 {\nrecv 8b from 0\n}\nrank 3 {\na: recv 8b from 1\nb: calc 10\nb requires a\n}\n",
      "test");
  const Graph nodes = regroup(graph, {.ranks_per_node = 2});
  REQUIRE(check(nodes).clean());
  const IdealSchedule schedule = ideal_schedule(nodes);
  REQUIRE(schedule.makespan_ns == 1000);
  REQUIRE(nodes.communicators().size() == 2);  // from second to second
}

TEST_CASE("NICs are apart or shared") {
  const Graph graph = parse_text(
      "num_ranks 4\nrank 0 {\nsend 8b to 2\n}\nrank 1 {\nsend 8b to 3 nic 1\n}\n"
      "rank 2 {\nrecv 8b from 0\n}\nrank 3 {\nrecv 8b from 1\n}\n",
      "test");
  REQUIRE(regroup(graph, {.ranks_per_node = 2}).rank(0).nic(1) == 2);
  REQUIRE(regroup(graph, {.ranks_per_node = 2, .share_nics = true}).rank(0).nic(1) == 1);
}

TEST_CASE("collectives stay where a node has one member, and are refused where it has two") {
  const std::string text =
      "num_ranks 4\ncomm 1 \"even\" { 0 2 }\ncomm 2 \"first\" { 0 1 }\n"
      "rank 0 {\nallreduce 8b comm 1\nFIRST\n}\nrank 1 {\nFIRST\n}\nrank 2 {\nallreduce 8b comm 1\n}\nrank 3 "
      "{\n}\n";
  const auto graph = [&](const std::string& first) {
    std::string filled = text;
    for (std::size_t at; (at = filled.find("FIRST")) != std::string::npos;) filled.replace(at, 5, first);
    return parse_text(filled, "test");
  };
  const Graph nodes = regroup(graph("calc 1"), {.ranks_per_node = 2});
  REQUIRE(nodes.communicators()[1].ranks == std::vector<Rank>{0, 1});
  REQUIRE(check(nodes).clean());
  REQUIRE_THROWS_WITH(regroup(graph("barrier comm 2"), {.ranks_per_node = 2}),
                      Catch::Contains("operation 1 of rank 0 (barrier)") && Catch::Contains("--expand"));
}

TEST_CASE("wildcards become what an ideal run finds, and are counted") {
  const Graph graph = parse_text(
      "num_ranks 4\nrank 0 {\nsend 8b to 3 tag 5\n}\nrank 1 {\na: calc 9\nb: send 9b to 3 tag 6\nb requires "
      "a\n}\n"
      "rank 2 {\n}\nrank 3 {\na: recv 8b from -1 tag -1\nb: recv 9b from -1\nb requires a\n}\n",
      "test");
  REQUIRE_THROWS_WITH(regroup(graph, {.ranks_per_node = 2}), Catch::Contains("can never run"));
  const Graph sound = parse_text(
      "num_ranks 4\nrank 0 {\nsend 8b to 3 tag 5\n}\nrank 1 {\na: calc 9\nb: send 9b to 3 tag 6\nb requires "
      "a\n}\n"
      "rank 2 {\n}\nrank 3 {\na: recv 8b from -1 tag -1\nb: recv 9b from -1 tag 6\nb requires a\n}\n",
      "test");
  std::vector<Anomaly> anomalies;
  const Graph nodes = regroup(sound, {.ranks_per_node = 2}, &anomalies);
  REQUIRE(count_of(anomalies, "wildcards_bound") == 2);
  REQUIRE(check(nodes).clean());
  REQUIRE(nodes.rank(1).op(0).tag == 5);
}

TEST_CASE("what can't be numbered is refused") {
  const Graph graph = parse_text("num_ranks 2\nrank 0 {\ncalc 1 cpu 65535\n}\nrank 1 {\ncalc 1\n}\n", "test");
  REQUIRE_THROWS_WITH(regroup(graph, {.ranks_per_node = 2}), Catch::Contains("65535 is the highest"));
  REQUIRE_THROWS_AS(regroup(graph, {.ranks_per_node = 0}), InputError);
}
