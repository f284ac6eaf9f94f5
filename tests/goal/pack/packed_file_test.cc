#include "goal/pack/packed_file.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "goal/pack/pack.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"
#include "tests/goal/random_graph.h"

namespace weft::goal {
namespace {

// Ranks that loop with a time of their own each round, and talk to both neighbours.
Graph loops(Rank ranks, int rounds) {
  GraphBuilder builder;
  std::mt19937_64 random(1);
  for (Rank rank = 0; rank < ranks; ++rank) {
    OpIndex before = builder.add_calc(100 + rank);
    for (int round = 0; round < rounds; ++round) {
      const OpIndex calc = builder.add_calc(1000 + random() % 1000);
      builder.add_edge(before, calc);
      const OpIndex send = builder.add_send(random() % 64, (rank + 1) % ranks, 1);
      const OpIndex receive = builder.add_recv(64, (rank + ranks - 1) % ranks, 1);
      builder.add_edge(calc, send, true);
      builder.add_edge(calc, receive);
      before = builder.add_collective({.kind = CollectiveKind::kBarrier});
      builder.add_edge(receive, before);
      builder.add_edge(send, before);
    }
    builder.end_rank();
  }
  return builder.finish();
}

void check_block(const Graph& graph, Rank rank, const OpBlock& block) {
  const RankView view = graph.rank(rank);
  REQUIRE(block.edge_begin.size() == block.ops.size() + 1);
  for (OpIndex k = 0; k < block.ops.size(); ++k) {
    const OpIndex i = block.first + k;
    REQUIRE(block.ops[k] == view.op(i));
    const auto edges = view.dependents(i), read = block.dependents(k);
    REQUIRE(std::equal(edges.begin(), edges.end(), read.begin(), read.end()));
    REQUIRE((block.labels.empty() ? "" : block.labels[k]) == view.label(i));
  }
}

// Reads all ranks side by side, in turns of random length.
void check_reading(const Graph& graph, std::uint64_t cache_bytes, std::uint32_t most) {
  const std::string bytes = to_pack(graph, {{{"source", "test"}}, {}});
  PackedFile file(bytes, "x.weft", {.cache_bytes = cache_bytes});
  REQUIRE(file.ranks() == graph.ranks());
  REQUIRE(file.ops() == graph.ops());
  REQUIRE(file.edges() == graph.edges());
  REQUIRE(file.communicators() == graph.communicators());
  REQUIRE(file.collectives() == graph.collectives());
  REQUIRE(file.info().metadata.at("source") == "test");
  std::mt19937_64 random(most);
  std::vector<RankReader> readers;
  for (Rank rank = 0; rank < file.ranks(); ++rank) {
    REQUIRE(file.ops(rank) == graph.rank(rank).ops());
    REQUIRE(file.edges(rank) == graph.rank(rank).edges());
    readers.push_back(file.rank(rank));
  }
  OpBlock block;
  for (std::uint64_t read = 0; read < graph.ops();) {
    RankReader& reader = readers[random() % readers.size()];
    const OpIndex begin = reader.position();
    const auto wanted = static_cast<std::uint32_t>(1 + random() % most);
    const bool more = reader.next(block, wanted);
    REQUIRE(more == (begin < file.ops(reader.rank())));
    if (!more) continue;
    REQUIRE(block.first == begin);
    REQUIRE(block.ops.size() == std::min<std::size_t>(wanted, file.ops(reader.rank()) - begin));
    check_block(graph, reader.rank(), block);
    read += block.ops.size();
  }
  for (RankReader& reader : readers) REQUIRE_FALSE(reader.next(block, most));
}

}  // namespace

TEST_CASE("ranks are read side by side, block by block") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    const Graph graph = random_graph(seed);
    if (graph.ops() != 0) check_reading(graph, seed % 2 == 0 ? 0 : 1 << 20, 1 + seed % 5);
  }
  // 70,000 values a rank: more than a block holds. A cache of nothing unpacks again and again.
  check_reading(loops(3, 35'000), 256 << 20, 5000);
  check_reading(loops(3, 35'000), 0, 20'000);
  check_reading(loops(300, 200), 1 << 16, 100);
}

TEST_CASE("programs longer than a block") {
  // Nothing repeats: 16,384 shapes end a block, and so do 65,536 tokens and 131,072 dependencies.
  std::mt19937_64 random(1);
  GraphBuilder builder;
  for (Rank rank = 0; rank < 4; ++rank) {
    constexpr OpIndex kOps = 50'000;
    for (OpIndex i = 0; i < kOps; ++i) {
      const auto kinds = rank == 1 ? 4u : 50'000u;  // few shapes in random order, or many
      builder.add_send(random() % kinds, static_cast<Rank>(random() % 4),
                       static_cast<std::uint32_t>(random() % kinds));
      for (std::uint64_t edges = random() % (rank == 2 ? 20 : 3); edges > 0; --edges) {
        builder.add_edge(i, rank == 1 ? std::min(i + 1, kOps - 1) : static_cast<OpIndex>(random() % kOps),
                         edges % 2 == 0);
      }
    }
    for (OpIndex i = 0; rank == 1 && i < kOps; ++i)
      builder.add_calc(random() % 8, static_cast<std::uint16_t>(random() % 5));
    builder.end_rank();
  }
  const Graph graph = builder.finish();
  check_reading(graph, 256 << 20, 3000);
  check_reading(graph, 0, 20'000);
  CHECK(parse_pack(to_pack(graph, {}), "x.weft") == graph);
}

TEST_CASE("ranks that do alike share a program") {
  const std::string bytes = to_pack(loops(64, 100), {});
  PackedFile file(bytes, "x.weft", {});
  // What differs is the time of the first operation, told apart by the program as it comes once only.
  CHECK(file.program(0) != file.program(1));
  GraphBuilder builder;
  for (Rank rank = 0; rank < 16; ++rank) {
    for (int round = 0; round < 10; ++round) builder.add_send(8, (rank + 1) % 16);
    builder.end_rank();
  }
  const std::string ring = to_pack(builder.finish(), {});
  PackedFile ring_file(ring, "x.weft", {});
  for (Rank rank = 1; rank < 16; ++rank) CHECK(ring_file.program(rank) == ring_file.program(0));
}

TEST_CASE("what is no file of this version is told apart") {
  CHECK(PackedFile::is_one(to_pack(Graph(), {})));
  CHECK_FALSE(PackedFile::is_one("num_ranks 1"));
  CHECK_FALSE(PackedFile::is_one(std::string("WEFTGOAL\x01\0\0\0", 12)));
  CHECK_THROWS_WITH(
      PackedFile("tests/goal/pack/data/version_1.weft"),
      "tests/goal/pack/data/version_1.weft: byte 8: found format version 1, which can't be read block "
      "by block; convert the file (weft goal convert)");
  CHECK_THROWS_AS(PackedFile("no/such.weft"), InputError);
}

}  // namespace weft::goal
