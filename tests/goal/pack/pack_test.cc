#include "goal/pack/pack.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "goal/text/text.h"
#include "sim/units/input_error.h"
#include "tests/goal/random_graph.h"

namespace weft::goal {
namespace {

const PackInfo kInfo = {
    {{"application", "lmp"}, {"command", "mpirun -n 8 lmp -in in.lj"}},
    {{"unknown_calls", Severity::kWarning, "Calls the tracer does not know are left out.", 3},
     {"clock_steps", Severity::kInfo, "", 1}},
    {{{"MPI_File_close", 8, 0, 900}, {"MPI_File_write_at", 40, 4096, 123'456'789'012}},
     100'000,
     1'000'000'000'000,
     987'654'321'098},
};

std::string error_of(const std::string& file) {
  try {
    parse_pack(file, "x.weft");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

// Three ranks, one of them empty, with all that the format can hold.
const char* const kText = R"(num_ranks 3
comm 1 "row" { 2 0 }

rank 0 {
a: calc 100 cpu 300
b: send 8b to 2 tag 7 cpu 1 nic 2 comm 1
b irequires a
b requires a
gather [1 2]b root 1 elem 8 comm 1
}

rank 1 {
}

rank 2 {
recv 8b from -1 tag -1 comm 1
gather [1 2]b root 1 elem 8 comm 1
}
)";

}  // namespace

TEST_CASE("read of write gives the same graph, labels and info") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Graph graph = random_graph(seed);
    INFO("seed " << seed);
    const std::string file = to_pack(graph, kInfo);
    PackInfo info;
    const Graph again = parse_pack(file, "x.weft", &info);
    REQUIRE(again == graph);
    REQUIRE(info == kInfo);
    for (Rank rank = 0; rank < graph.ranks(); ++rank) {
      for (OpIndex i = 0; i < graph.rank(rank).ops(); ++i) {
        REQUIRE(again.rank(rank).label(i) == graph.rank(rank).label(i));
      }
    }
    REQUIRE(to_pack(again, info) == file);
  }
}

TEST_CASE("synchronous sends stay so, beside standard ones that are alike otherwise") {
  const std::string text =
      "num_ranks 2\n\nrank 0 {\nsend 1b to 1 sync\nsend 1b to 1\nsend 1b to 1 sync\n}\n\n"
      "rank 1 {\nrecv 1b from 0\nrecv 1b from 0\nrecv 1b from 0\n}\n";
  const Graph again = parse_pack(to_pack(parse_text(text, "test"), kInfo), "x.weft");
  CHECK(to_text(again) == to_text(parse_text(text, "test")));
  CHECK(again.rank(0).op(0).kind.synchronous());
  CHECK_FALSE(again.rank(0).op(1).kind.synchronous());
}

TEST_CASE("ranks larger than a block") {
  constexpr OpIndex kOps = 700'000;  // blocks end at 262144 operations
  GraphBuilder builder;
  for (Rank rank = 0; rank < 2; ++rank) {
    for (OpIndex i = 0; i < kOps; ++i) {
      if (i % 3 == 0) {
        builder.add_calc(i);
      } else {
        builder.add_send(i, 1 - rank, i % 1000);
      }
      if (i > 0) builder.add_edge(i - 1, i);
      if (i > 300'000) builder.add_edge(i, i - 300'000, true);
    }
    builder.end_rank();
  }
  const Graph graph = builder.finish();
  CHECK(parse_pack(to_pack(graph, {}), "x.weft") == graph);
}

TEST_CASE("no graph at all, and ranks without operations") {
  GraphBuilder builder;
  const Graph none = builder.finish();
  CHECK(parse_pack(to_pack(none, {}), "x.weft").ranks() == 0);
  for (int rank = 0; rank < 3; ++rank) builder.end_rank();
  CHECK(parse_pack(to_pack(builder.finish(), {}), "x.weft").ranks() == 3);
}

TEST_CASE("a file cut short is refused with the rank and the byte") {
  const std::string file = to_pack(parse_text(kText, "test.goal"), kInfo);
  for (std::size_t length = 0; length < file.size(); ++length) {
    CHECK_THROWS_AS(parse_pack(file.substr(0, length), "x.weft"), InputError);
  }
  // The header has 12 bytes, then come rank 0's labels: the head of their block has 12 more.
  const std::string message = error_of(file.substr(0, 30));
  CHECK_THAT(message, Catch::Matchers::StartsWith(
                          "x.weft: byte 12: the file ends within the block of labels of rank 0: ") &&
                          Catch::Matchers::EndsWith(" bytes are needed, 6 are there"));
}

TEST_CASE("a changed bit is found, or changes nothing") {
  const Graph graph = parse_text(kText, "test.goal");
  const std::string file = to_pack(graph, kInfo);
  int harmless = 0;
  for (std::size_t offset = 0; offset < file.size(); ++offset) {
    INFO("byte " << offset);
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = file;
      changed[offset] = static_cast<char>(changed[offset] ^ (1 << bit));
      try {
        PackInfo info;
        const bool same = parse_pack(changed, "x.weft", &info) == graph;
        CHECK((same && info == kInfo));
        ++harmless;
      } catch (const InputError&) {
      }
    }
  }
  // A few bits in the head of a zstd frame mean nothing.
  CHECK(harmless < static_cast<int>(file.size()) * 8 / 50);
}

TEST_CASE("damage names the rank and the byte") {
  std::string file = to_pack(parse_text(kText, "test.goal"), {});
  file[12 + 12 + 20] ^= 1;  // within the first frame
  CHECK_THAT(error_of(file),
             Catch::Matchers::StartsWith("x.weft: byte 12: the block of labels of rank 0 is damaged here"));
  CHECK_THAT(error_of("WEFTGOAL\x03" + std::string(40, '\0')),
             Catch::Matchers::Contains("found format version 3; this program reads versions 1 to 2"));
  CHECK_THAT(error_of("num_ranks 2"), Catch::Matchers::Contains("not a packed GOAL file"));
}

TEST_CASE("files of all versions stay readable") {
  for (const std::string version : {"1", "2"}) {
    PackInfo info;
    const Graph graph = read_pack_file("tests/goal/pack/data/version_" + version + ".weft", &info);
    CHECK(to_text(graph) == kText);
    CHECK(info.metadata == kInfo.metadata);
    CHECK(info.anomalies == kInfo.anomalies);
    CHECK(info.not_replayed == NotReplayed());  // they are older than that
  }
}

TEST_CASE("peers that do not exist are refused") {
  GraphBuilder builder;
  builder.add_calc(1);
  builder.add_send(8, 7);
  builder.end_rank();
  CHECK_THROWS_WITH(
      to_pack(builder.finish(), {}),
      "operation 1 of rank 0 names a peer or communicator that does not exist; a packed file can't "
      "hold it");
}

TEST_CASE("a loop costs nothing, whatever the number of rounds; nor do ranks that do alike") {
  // A ring with a reduction by xor: 32 ranks, each with peers of its own.
  const auto size = [](Rank ranks, int rounds) {
    GraphBuilder builder;
    for (Rank rank = 0; rank < ranks; ++rank) {
      for (int round = 0; round < rounds; ++round) {
        const OpIndex calc = builder.add_calc(1000);
        const OpIndex send = builder.add_send(64, (rank + 1) % ranks, static_cast<std::uint32_t>(round));
        const OpIndex receive =
            builder.add_recv(64, (rank + ranks - 1) % ranks, static_cast<std::uint32_t>(round));
        builder.add_edge(calc, send);
        builder.add_edge(calc, receive);
        for (Rank bit = 1; bit < ranks; bit *= 2) {
          builder.add_edge(receive, builder.add_send(8, rank ^ bit));
          builder.add_edge(receive, builder.add_recv(8, rank ^ bit));
        }
      }
      builder.end_rank();
    }
    return to_pack(builder.finish(), {}).size();
  };
  const std::size_t small = size(32, 10), long_ = size(32, 3000);
  CHECK(small < 1200);
  CHECK(long_ < small + 40);
  CHECK(size(64, 10) < small + 800);
}

TEST_CASE("random times cost what they hold") {
  // 16 bits each, in steps of 8, on top of 10 ms.
  std::mt19937_64 random(1);
  constexpr OpIndex kOps = 100'000;
  GraphBuilder builder;
  for (OpIndex i = 0; i < kOps; ++i) {
    builder.add_calc(10'000'000 + 8 * (random() % 65536));
    if (i > 0) builder.add_edge(i - 1, i);
  }
  builder.end_rank();
  const std::size_t size = to_pack(builder.finish(), {}).size();
  CHECK(size >= 2 * kOps);
  CHECK(size < 2 * kOps + 1000);
}

TEST_CASE("a collective with what its kind has not, and the text can't say, is refused") {
  const auto read = [](const Collective& collective) {
    GraphBuilder builder;
    builder.add_collective(collective);
    builder.end_rank();
    return error_of(to_pack(builder.finish(), {}));
  };
  CHECK(read({.kind = CollectiveKind::kAllreduce, .bytes = 8, .element_bytes = 4}) == "accepted");
  const std::vector<Collective> wrong = {
      {.kind = CollectiveKind::kBarrier, .element_bytes = 4},
      {.kind = CollectiveKind::kBarrier, .bytes = 4},
      {.kind = CollectiveKind::kBarrier, .v_form = true},
      {.kind = CollectiveKind::kAllreduce, .bytes = 8, .counts = {8}},
      {.kind = CollectiveKind::kBcast, .bytes = 8, .receive_counts = {8}},
      {.kind = CollectiveKind::kAllgather, .bytes = 8, .counts = {8}},
      {.kind = CollectiveKind::kAlltoall, .bytes = 8, .destinations = {0}},
  };
  for (const Collective& collective : wrong) {
    CHECK_THAT(read(collective), Catch::Matchers::Contains("what its kind has not"));
  }
}

TEST_CASE("an algorithm that would be more than a word in the text is refused") {
  const auto file_with = [](const std::string& algorithm) {
    GraphBuilder builder;
    builder.add_collective({.kind = CollectiveKind::kBarrier, .algorithm = algorithm});
    builder.end_rank();
    return to_pack(builder.finish(), {});
  };
  CHECK(error_of(file_with("ring:segment=64KiB,k=1.5")) == "accepted");
  CHECK_THAT(error_of(file_with("ring\nsend 8b to 0")),
             Catch::Matchers::Contains("the algorithm is not a word"));
}

TEST_CASE("a file that can't be read or written is named") {
  CHECK_THROWS_WITH(read_pack_file("no/such.weft"),
                    "no/such.weft: can't read the file: No such file or directory");
  CHECK_THROWS_WITH(write_pack_file(parse_text(kText, ""), {}, "no/such.weft"),
                    "no/such.weft: can't write the file: No such file or directory");
}

}  // namespace weft::goal
