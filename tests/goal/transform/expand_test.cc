#include "goal/transform/expand.h"

#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "goal/check/check.h"
#include "goal/text/text.h"
#include "goal/transform/plain.h"
#include "sim/units/input_error.h"
#include "tests/goal/random_graph.h"
#include "tests/sim/replay/random_program.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::goal;

namespace {

Graph expanded(const Graph& graph, const std::string& kind = "", const std::string& algorithm = "",
               double reduction = 0) {
  CollectiveChoices choices;
  for (int k = 0; k < kCollectiveKinds; ++k) {
    if (name(static_cast<CollectiveKind>(k)) == kind) choices.forced[static_cast<std::size_t>(k)] = algorithm;
  }
  return expand_collectives(graph, CollectiveSelection(choices), {.reduction_ns_per_byte = reduction});
}

// All ranks call it, between two calcs.
Graph called(Rank ranks, const std::string& collective) {
  std::string text = "num_ranks " + std::to_string(ranks) + "\n";
  for (Rank r = 0; r < ranks; ++r) {
    text += "rank " + std::to_string(r) + " {\na: calc 100\nb: " + collective +
            "\nb requires a\nc: calc 200\nc requires b\n}\n";
  }
  return parse_text(text, "test");
}

// When the ranks finish, in ps.
std::vector<std::int64_t> finish(const Graph& graph, const CollectiveSelection& selection) {
  const sim::LogGops costs;
  sim::HostConfig hosts = sim::LogGopsRun::hosts(costs);
  hosts.collectives = selection;
  sim::Engine engine(1);
  sim::Replay replay(graph, hosts, engine);
  sim::LogGopsNetwork network({Time::ns(costs.L), Time::ns(costs.g), TimePerByte::ns(costs.G)}, graph.ranks(),
                              1, sim::FlowRecord::kRows, engine, replay.client());
  sim::NeverStop control;
  replay.start(network.part());
  network.run(control);
  REQUIRE(replay.complete());
  std::vector<std::int64_t> times;
  for (const results::Rank& rank : replay.ranks()) times.push_back(rank.finish.ps());
  return times;
}

std::uint64_t sent(const Graph& graph, std::uint64_t* messages) {
  std::uint64_t bytes = 0;
  *messages = 0;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) {
      if (graph.rank(r).kind(i) != OpKind::kSend) continue;
      ++*messages;
      bytes += graph.rank(r).value(i);
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("expanded or not, and with communicators or without: the replay ends at the same picosecond") {
  int with_collectives = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    // One chain a rank, as things that happen at once may be taken in another order.
    sim::Program program = sim::random_program(seed, {});
    for (std::vector<sim::ProgramOp>& ops : program.ranks) {
      for (std::size_t i = 0; i < ops.size(); ++i) {
        ops[i].op.cpu = 0;
        ops[i].after.clear();
        if (i > 0) ops[i].after.emplace_back(i - 1, false);
      }
    }
    const Graph graph = program.graph();
    const sim::LogGops costs{.L = static_cast<std::int64_t>(seed * 37 % 2000),
                             .o = static_cast<std::int64_t>(seed * 11 % 200),
                             .g = static_cast<std::int64_t>(seed * 7 % 50),
                             .G = static_cast<double>(seed % 3),
                             .O = static_cast<double>(seed % 2),
                             .S = seed % 5 < 2 ? 1000u : 1u << 20,
                             .reduction = static_cast<double>(seed % 4)};
    const Graph spelled_out = expanded(graph, "", "", costs.reduction);
    const Graph plain = fold_communicators(spelled_out);
    const sim::LogGopsRun whole(graph, costs), steps(spelled_out, costs), folded(plain, costs);
    INFO("seed " << seed << "\n" << to_text(graph) << to_text(spelled_out));
    REQUIRE(steps.replay.complete() == whole.replay.complete());
    REQUIRE(folded.replay.complete() == whole.replay.complete());
    if (!whole.replay.complete()) continue;
    REQUIRE_FALSE(check(plain).has_errors());
    REQUIRE(steps.finish() == whole.finish());
    REQUIRE(folded.finish() == whole.finish());
    REQUIRE(steps.replay.totals().messages == whole.replay.totals().messages);
    REQUIRE(steps.replay.totals().bytes == whole.replay.totals().bytes);
    with_collectives += !program.collectives.empty();
  }
  REQUIRE(with_collectives > 100);
}

TEST_CASE("every algorithm spelled out takes as long as in the replay") {
  for (const CollectiveAlgorithm& algorithm : collective_algorithms()) {
    if (is_of_neighbors(algorithm.kind)) continue;
    const std::string kind(name(algorithm.kind));
    for (const Rank ranks : {4u, 7u, 8u}) {
      CollectiveChoices choices;
      std::string& choice = choices.forced[static_cast<std::size_t>(algorithm.kind)];
      choice = algorithm.info.name;
      for (const ParameterSpec& parameter : algorithm.info.parameters) {
        if (parameter.name == "ranks_per_node")
          choice += fmt::format(":ranks_per_node={}", algorithm.info.name == "nccl_nvls" ? 8 : 2);
        if (parameter.name == "segment")
          choice += (choice.find(':') == std::string::npos ? ":" : ",") + std::string("segment=300");
      }
      const ChosenAlgorithm chosen = choose_collective_algorithm(algorithm.kind, choice);
      if (algorithm.objection != nullptr && !algorithm.objection(chosen.options, ranks).empty()) continue;
      const CollectiveSelection selection(choices);
      const Graph graph = called(ranks, kind + (kind == "barrier" ? "" : " 999b"));
      INFO(kind << " " << choice << " on " << ranks);
      const Graph steps = fold_communicators(expand_collectives(graph, selection));
      REQUIRE(check(steps).clean());
      REQUIRE(finish(steps, selection) == finish(graph, selection));
    }
  }
}

TEST_CASE("counts of messages, bytes and calcs in closed form") {
  std::uint64_t messages = 0;
  // Ring: 2 (p - 1) messages of n / p bytes a rank; half of them are combined.
  const Graph ring = expanded(called(8, "allreduce 8000b"), "allreduce", "ring", 2);
  REQUIRE(sent(ring, &messages) == 8 * 2 * 7 * 1000);
  REQUIRE(messages == 8 * 2 * 7);
  std::uint64_t combining = 0;
  for (OpIndex i = 0; i < ring.rank(3).ops(); ++i) {
    combining += ring.rank(3).kind(i) == OpKind::kCalc && ring.rank(3).value(i) == 2000;
  }
  REQUIRE(combining == 7);
  // Dissemination: lg p rounds of empty messages.
  REQUIRE(sent(expanded(called(8, "barrier"), "barrier", "dissemination"), &messages) == 0);
  REQUIRE(messages == 8 * 3);
  // Binomial tree: p - 1 messages.
  REQUIRE(sent(expanded(called(6, "bcast 10b root 4"), "bcast", "binomial_tree"), &messages) == 50);
}

TEST_CASE("what waited for the collective waits for its last steps, what it waited for holds its first") {
  const Graph steps = expanded(called(2, "allreduce 8b"), "allreduce", "recursive_doubling");
  const RankView rank = steps.rank(0);
  REQUIRE(rank.ops() == 4);  // calc, send, recv, calc
  REQUIRE(rank.dependents(0).size() == 2);
  REQUIRE(rank.dependents(1)[0] == Edge(3, false));
  REQUIRE(rank.dependents(2)[0] == Edge(3, false));
  REQUIRE(steps.communicators()[1].name == "world: collectives");
}

TEST_CASE("who waits for the start of a collective waits for what it waits for") {
  const Graph graph = parse_text(
      "num_ranks 2\nrank 0 {\na: calc 50\nb: barrier\nb requires a\nc: barrier\nc irequires b\nd: calc 1\nd "
      "irequires c\n"
      "e: calc 2\ne requires b,c\n}\nrank 1 {\na: calc 9000\nb: barrier\nb requires a\nc: barrier\n}\n",
      "test");
  const Graph steps = expanded(graph);
  const sim::LogGops costs{};
  REQUIRE(sim::LogGopsRun(steps, costs).finish() == sim::LogGopsRun(graph, costs).finish());
  // d may run while both are under way: after a.
  const RankView rank = steps.rank(0);
  REQUIRE(rank.dependents(0).back().dependent() == rank.ops() - 2);
}

TEST_CASE("many to many goes through a joining calc; tags of calls and users stay apart") {
  const Graph steps = expanded(called(16, "alltoall 8b"), "alltoall", "linear");
  for (Rank r = 0; r < 16; ++r) REQUIRE(steps.rank(r).ops() == 2 + 30);
  const Graph twice = parse_text(
      "num_ranks 2\nrank 0 {\nallreduce 8b\nallreduce 8b\nsend 8b to 1\n}\n"
      "rank 1 {\nallreduce 8b\nallreduce 8b\nrecv 8b from 0\n}\n",
      "test");
  const Graph plain = fold_communicators(expanded(twice));
  std::set<std::uint32_t> tags;
  for (OpIndex i = 0; i < plain.rank(0).ops(); ++i) {
    if (plain.rank(0).kind(i) == OpKind::kSend) tags.insert(plain.rank(0).tag(i));
  }
  REQUIRE(tags.size() == 3);
  REQUIRE(plain.rank(0).tag(plain.rank(0).ops() - 1) == 0);
}

TEST_CASE("a graph without collectives stays as it is; empty ones leave a calc of 0") {
  RandomGraphOptions options;
  options.collectives = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Graph graph = random_graph(seed, options);
    REQUIRE(expanded(graph) == graph);
  }
  const Graph nothing = expanded(called(3, "bcast 0b root 0"));
  REQUIRE(nothing.rank(0).ops() == 3);
  REQUIRE(nothing.rank(0).op(1) == Op{.kind = OpKind::kCalc});
  REQUIRE(
      fold_communicators(nothing) ==
      parse_text("num_ranks 3\nrank 0 {\na: calc 100\nb: calc 0\nb requires a\nc: calc 200\nc requires b\n}\n"
                 "rank 1 {\na: calc 100\nb: calc 0\nb requires a\nc: calc 200\nc requires b\n}\n"
                 "rank 2 {\na: calc 100\nb: calc 0\nb requires a\nc: calc 200\nc requires b\n}\n",
                 "test"));
}

TEST_CASE("what can't be spelled out is refused") {
  REQUIRE_THROWS_AS(expanded(called(3, "barrier"), "barrier", "none"), InputError);
  REQUIRE_THROWS_AS(expanded(called(3, "barrier"), "", "", -1), InputError);
  const Graph outsider =
      parse_text("num_ranks 2\ncomm 1 { 1 }\nrank 0 {\nbarrier comm 1\n}\nrank 1 {\n}\n", "test");
  REQUIRE_THROWS_WITH(expanded(outsider), Catch::Contains("that the rank is not in"));
}
