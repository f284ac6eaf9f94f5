#include "goal/graph/graph.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

namespace weft::goal {

TEST_CASE("operations keep all their fields") {
  GraphBuilder builder;
  const Op send{OpKind::kSend, 255, 65535, 1, kAny, 0, ~0ULL};
  const Op recv{OpKind::kRecv, 1, 2, kAny, 7, 0, 3};
  CHECK(builder.add(send, "s") == 0);
  CHECK(builder.add(recv) == 1);
  CHECK(builder.ops_in_rank() == 2);
  builder.end_rank();
  CHECK(builder.add_calc(5, 4) == 0);
  builder.end_rank();
  const Graph graph = builder.finish();
  CHECK(graph.ranks() == 2);
  CHECK(graph.ops() == 3);
  CHECK(graph.rank(0).op(0) == send);
  CHECK(graph.rank(0).op(1) == recv);
  CHECK(graph.rank(1).op(0) == Op{OpKind::kCalc, 0, 4, 0, 0, 0, 5});
  CHECK(graph.rank(1).first_op() == 2);
  CHECK(graph.rank(0).label(0) == "s");
  CHECK(graph.rank(0).label(1) == "");
  CHECK(graph.rank(1).label(0) == "");
  CHECK(graph.max_cpu() == 65535);
  CHECK(graph.max_nic() == 255);
}

TEST_CASE("dependents come in the order they were added, for any order of adding") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    GraphBuilder builder;
    // Edges are kept as plain lists as well, to compare the graph with.
    std::vector<std::map<OpIndex, std::vector<Edge>>> expected;
    std::vector<OpIndex> sizes;
    for (int rank = 0; rank < 3; ++rank) {
      expected.emplace_back();
      const auto ops = static_cast<OpIndex>(random() % 8);
      sizes.push_back(ops);
      for (OpIndex i = 0; i < ops; ++i) builder.add_calc(i);
      for (std::uint64_t e = ops == 0 ? 0 : random() % 20; e > 0; --e) {
        const auto first = static_cast<OpIndex>(random() % ops),
                   dependent = static_cast<OpIndex>(random() % ops);
        const bool on_start = random() % 2 == 0;
        builder.add_edge(first, dependent, on_start);
        expected.back()[first].push_back(Edge(dependent, on_start));
      }
      builder.end_rank();
    }
    const Graph graph = builder.finish();
    std::uint64_t edges = 0;
    for (Rank rank = 0; rank < 3; ++rank) {
      const RankView view = graph.rank(rank);
      REQUIRE(view.ops() == sizes[rank]);
      std::vector<std::uint32_t> incoming(view.ops(), 0);
      for (OpIndex i = 0; i < view.ops(); ++i) {
        const auto dependents = view.dependents(i);
        REQUIRE(std::vector<Edge>(dependents.begin(), dependents.end()) == expected[rank][i]);
        for (const Edge& edge : dependents) ++incoming[edge.dependent()];
        edges += dependents.size();
      }
      REQUIRE(view.dependency_counts() == incoming);
    }
    REQUIRE(graph.edges() == edges);
  }
}

TEST_CASE("equal communicators and collectives are stored once") {
  GraphBuilder builder;
  CHECK(builder.add_communicator({"row", {0, 1}}) == 1);
  CHECK(builder.add_communicator({"column", {0, 1}}) == 2);
  CHECK(builder.add_communicator({"row", {0, 1}}) == 1);
  CHECK(builder.add_communicator({"world", {}}) == kWorld);
  const Collective sum{.kind = CollectiveKind::kAllreduce, .comm = 1, .bytes = 8, .element_bytes = 8};
  const Collective lists{.kind = CollectiveKind::kAllgather, .comm = 2, .counts = {1, 2}};
  for (int rank = 0; rank < 2; ++rank) {
    builder.add_collective(sum);
    builder.add_collective(lists, 3, 1);
    builder.add_collective(sum);
    builder.end_rank();
  }
  const Graph graph = builder.finish();
  CHECK(graph.collectives() == std::vector<Collective>{sum, lists});
  const RankView rank = graph.rank(1);
  CHECK(rank.collective(1) == lists);
  CHECK(rank.comm(1) == 2);
  CHECK(rank.cpu(1) == 3);
  CHECK(rank.nic(1) == 1);
  // The tag is the position on the communicator, counted anew in each rank.
  CHECK(rank.tag(0) == 0);
  CHECK(rank.tag(1) == 0);
  CHECK(rank.tag(2) == 1);
}

TEST_CASE("ranks of a communicator") {
  GraphBuilder builder;
  const std::uint32_t comm = builder.add_communicator({"odd", {3, 1}});
  for (int rank = 0; rank < 4; ++rank) builder.end_rank();
  const Graph graph = builder.finish();
  CHECK(graph.communicator_size(kWorld) == 4);
  CHECK(graph.world_rank(kWorld, 2) == 2);
  CHECK(graph.rank_in(kWorld, 4) == kAny);
  CHECK(graph.communicator_size(comm) == 2);
  CHECK(graph.world_rank(comm, 0) == 3);
  CHECK(graph.rank_in(comm, 1) == 1);
  CHECK(graph.rank_in(comm, 0) == kAny);
}

TEST_CASE("a builder is empty after it has finished") {
  GraphBuilder builder;
  builder.add_communicator({"x", {0}});
  builder.add_calc(1);
  builder.end_rank();
  const Graph first = builder.finish();
  CHECK(builder.finish().ranks() == 0);
  builder.add_communicator({"x", {0}});
  builder.add_calc(1);
  builder.end_rank();
  CHECK(builder.finish() == first);
}

TEST_CASE("graphs differ where anything but a label differs") {
  const auto graph = [](std::uint64_t ns, bool on_start, const char* label) {
    GraphBuilder builder;
    builder.add({.value = ns}, label);
    builder.add_calc(2);
    builder.add_edge(0, 1, on_start);
    builder.end_rank();
    return builder.finish();
  };
  CHECK(graph(1, false, "a") == graph(1, false, "b"));
  CHECK_FALSE(graph(1, false, "") == graph(2, false, ""));
  CHECK_FALSE(graph(1, false, "") == graph(1, true, ""));
}

TEST_CASE("at most 40 bytes an operation and 8 an edge") {
  GraphBuilder builder;
  constexpr std::uint64_t kOps = 100'000, kEdges = 300'000;
  builder.reserve(kOps, kEdges);
  for (OpIndex i = 0; i < kOps; ++i) builder.add_send(8, 0, i);
  for (std::uint64_t e = 0; e < kEdges; ++e) builder.add_edge(static_cast<OpIndex>(e % kOps), 0);
  builder.end_rank();
  CHECK(builder.finish().memory_bytes() <= 40 * kOps + 8 * kEdges);
}

}  // namespace weft::goal
