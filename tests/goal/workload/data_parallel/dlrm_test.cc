// DLRM against its published sizes, what is exchanged in closed form, and where tables are.
#include "goal/workload/data_parallel/dlrm.h"

#include <fmt/core.h>

#include <map>
#include <set>

#include "goal/workload/data_parallel/tables.h"
#include "sim/units/random.h"
#include "tests/goal/workload/traffic.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::goal;

namespace {

Parameters parameters_of(const std::string& text) {
  return Parameters(dlrm_workload().info, parse_module_choice(text));
}

EmbeddingTables tables_of(const std::string& text, std::uint32_t ranks) {
  return EmbeddingTables(parameters_of(text), ranks);
}

std::string fact(const std::string& text, std::uint32_t ranks, const std::string& name) {
  for (const auto& [key, value] : dlrm_workload().facts(parameters_of(text), ranks)) {
    if (key == name) return value;
  }
  return "";
}

std::vector<Collective> collectives_of(const Graph& graph, Rank r, CollectiveKind kind) {
  std::vector<Collective> all;
  const RankView rank = graph.rank(r);
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    if (rank.kind(i) == OpKind::kCollective && rank.collective(i).kind == kind) {
      all.push_back(rank.collective(i));
    }
  }
  return all;
}

std::vector<double> calcs_of(const Graph& graph, Rank r) {
  std::vector<double> all;
  const RankView rank = graph.rank(r);
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    if (rank.kind(i) == OpKind::kCalc) all.push_back(static_cast<double>(rank.value(i)));
  }
  return all;
}

// What `from` sends to `to`, itself included; the plain form has one block for each.
std::uint64_t sent(const Collective& alltoall, Rank to) {
  return alltoall.counts.empty() ? alltoall.bytes : alltoall.counts[to];
}

}  // namespace

TEST_CASE("The benchmark's tables and layers have the published sizes") {
  const EmbeddingTables tables = tables_of("dlrm", 8);
  CHECK(tables.tables.size() == 26);
  CHECK(tables.rows() == 187'767'399);
  CHECK(tables.weights() == 24'034'227'072);
  const DlrmShape shape(parameters_of("dlrm"), 26, 128);
  CHECK(shape.top_inputs() == 479);
  const std::uint64_t bottom = 13 * 512 + 512 + 512 * 256 + 256 + 256 * 128 + 128;
  const std::uint64_t top = 479 * 1024 + 1024 + 1024 * 1024 + 1024 + 1024 * 512 + 512 + 512 * 256 + 256 + 257;
  CHECK(shape.parameters() == bottom + top);
  CHECK(fact("dlrm", 8, "parameters") == fmt::format("{}", 24'034'227'072 + bottom + top));

  const EmbeddingTables several = tables_of("dlrm:tables=criteo_1tb_multihot", 8);
  CHECK(several.rows() == 204'184'588);
  std::uint32_t lookups = 0;
  for (const EmbeddingTable& table : several.tables) lookups += table.lookups;
  CHECK(lookups == 214);
}

TEST_CASE("Pooled embeddings go to where the samples are, and gradients back") {
  RandomStream random(1, 0);
  for (int i = 0; i < 60; ++i) {
    const auto ranks = static_cast<std::uint32_t>(2 + random.below(12));
    const auto batch = static_cast<std::uint32_t>(ranks + random.below(200));
    const std::uint32_t columns = 1u << random.below(4);
    const char* placement = std::array{"balanced", "bytes", "round_robin"}[random.below(3)];
    const bool fp32 = random.below(2) == 0;
    const std::string text = fmt::format(
        "dlrm:tables=[500,20,70,1000,3],dim=16,bottom=[8,16],batch={},columns={},placement={},"
        "precision={}",
        batch, columns, placement, fp32 ? "fp32" : "bf16");
    INFO(text << " with " << ranks << " ranks");
    const Graph graph = traffic(text, ranks);
    CHECK(check(graph).clean());
    const std::uint64_t value = fp32 ? 4 : 2;
    std::uint64_t all = 0;
    for (Rank from = 0; from < ranks; ++from) {
      const std::vector<Collective> exchanges = collectives_of(graph, from, CollectiveKind::kAlltoall);
      REQUIRE(exchanges.size() == 2);
      for (Rank to = 0; to < ranks; ++to) {
        const std::vector<Collective> others = collectives_of(graph, to, CollectiveKind::kAlltoall);
        // Samples of `to` times the columns of `from`.
        const std::uint64_t samples = batch / ranks + (to < batch % ranks ? 1 : 0);
        CHECK(sent(exchanges[0], to) == samples * tables_of(text, ranks).ranks[from].columns * value);
        CHECK(sent(others[1], from) == sent(exchanges[0], to));
        all += sent(exchanges[0], to);
      }
    }
    CHECK(all == std::uint64_t{batch} * 5 * 16 * value);
  }
}

TEST_CASE("Where all ranks have as much it is a plain all-to-all, of which (p-1)/p leave a rank") {
  const Graph graph = traffic("dlrm:columns=4", 8);
  std::uint64_t leave = 0;
  for (Rank r = 0; r < 8; ++r) {
    for (const Collective& exchange : collectives_of(graph, r, CollectiveKind::kAlltoall)) {
      CHECK(exchange.counts.empty());
      leave += 7 * exchange.bytes;
    }
  }
  CHECK(leave == std::uint64_t{2} * 65'536 * 26 * 128 * 2 * 7 / 8);
}

TEST_CASE("The layers' gradients are all-reduced once a step") {
  for (const auto& [format, bytes] : {std::pair{"fp32", 4u}, std::pair{"bf16", 2u}}) {
    const Graph graph = traffic(fmt::format("dlrm:iterations=2,gradients={}", format), 8);
    std::uint64_t sum = 0;
    for (const Collective& reduction : collectives_of(graph, 3, CollectiveKind::kAllreduce)) {
      sum += reduction.bytes;
    }
    CHECK(sum == std::uint64_t{2} * bytes * 2'368'897);
  }
}

TEST_CASE("Each part of each table is at one rank") {
  for (const char* placement : {"balanced", "bytes", "round_robin"}) {
    for (const std::uint32_t ranks : {1u, 3u, 8u, 26u, 64u}) {
      INFO(placement << " on " << ranks);
      const EmbeddingTables tables = tables_of(fmt::format("dlrm:placement={}", placement), ranks);
      std::map<std::uint32_t, std::uint32_t> columns;
      std::uint64_t bytes = 0, most_columns = 0, least_columns = UINT64_MAX;
      for (const TableRank& rank : tables.ranks) {
        for (const TablePart& part : rank.parts) columns[part.table] += part.columns;
        bytes += rank.bytes;
        most_columns = std::max(most_columns, rank.columns);
        least_columns = std::min(least_columns, rank.columns);
      }
      CHECK(columns.size() == 26);
      for (const auto& [table, number] : columns) CHECK(number == 128);
      CHECK(bytes == 4 * tables.weights());
      if (placement == std::string("bytes")) {
        // Whoever has most had the least before its last part came.
        CHECK(tables.most_bytes() <= bytes / ranks + std::uint64_t{39'979'771} * (128 / tables.parts) * 4);
      } else {
        CHECK(most_columns - least_columns <= 128 / tables.parts);
        CHECK(least_columns > 0);
      }
    }
  }
}

TEST_CASE("Tables that a device has no room for are refused, with what would do") {
  CHECK_THAT(refusal("dlrm", 1),
             Catch::Contains("rank 0 would hold 96.1 GB of them (table 19 alone 20.5), and "
                             "a device has 80: all are 96.1 GB, so take 2 ranks"));
  CHECK(refusal("dlrm", 2) == "");
  CHECK(refusal("dlrm:device=h200", 1) == "");
  // One table of 102 GB: only in parts.
  const std::string large = "dlrm:tables=[200000000]";
  CHECK_THAT(refusal(large + ",columns=1", 8), Catch::Contains("102.4 GB"));
  CHECK(refusal(large + ",columns=2", 8) == "");
  CHECK(refusal(large, 8) == "");
}

TEST_CASE("What was chosen for the user is told") {
  const auto remarks = [](const std::string& text, std::uint32_t ranks) {
    return dlrm_workload().remarks(parameters_of(text), ranks);
  };
  CHECK(remarks("dlrm:device=h100", 26).empty());
  REQUIRE(remarks("dlrm", 26).size() == 1);
  CHECK_THAT(remarks("dlrm", 26)[0], Catch::StartsWith("device h100, as neither the traffic nor"));
  REQUIRE(remarks("dlrm:device=h100", 64).size() == 1);
  CHECK_THAT(remarks("dlrm:device=h100", 64)[0], Catch::Contains("26 tables are divided in 4 by columns"));
  REQUIRE(remarks("dlrm:columns=1,device=h100", 64).size() == 1);
  CHECK(remarks("dlrm:columns=1,device=h100", 64)[0] == "38 of 64 ranks have no table");
}

TEST_CASE("A row that is looked up twice is read once") {
  const EmbeddingTables tables = tables_of("dlrm:tables=[10,1000000],lookups=[2,3],dim=4,bottom=[4]", 1);
  CHECK(tables.ranks[0].touched(3) == (6 + 9) * 4);
  CHECK(tables.ranks[0].touched(100) == (10 + 300) * 4);
}

// Two ranks with a table each, and layers so small that their all-reduce is nothing beside the tables.
TEST_CASE("A step waits for both exchanges, which hide the bottom layers only") {
  const Graph graph =
      traffic("dlrm:tables=[1000000,1000000],dim=4,dense=1,bottom=[4],top=[1],batch=1000000", 2);
  const std::vector<double> calcs = calcs_of(graph, 0);
  // Look-up, bottom, interaction and top and both back, bottom back, update, optimizer.
  REQUIRE(calcs.size() == 6);
  const double exchanged = 500'000 * 4 * 2;
  for (const double per_byte : {0., 0.001, 0.1, 5.}) {
    const sim::LogGops network{
        .L = 0, .o = 0, .g = 0, .G = per_byte, .S = 1u << 30, .allreduce = "recursive_doubling"};
    const double exchange = per_byte * exchanged;
    INFO(per_byte << " ns a byte");
    CHECK(static_cast<double>(sim::LogGopsRun(graph, network).finish()[0]) ==
          Approx(calcs[0] + std::max(exchange, calcs[1]) + calcs[2] + std::max(exchange, calcs[3]) +
                 calcs[4] + calcs[5])
              .margin(100 * per_byte + 2));
  }
}

TEST_CASE("What makes no model is refused") {
  CHECK_THAT(refusal("dlrm:tables=criteo", 4), Catch::Contains("criteo_1tb"));
  CHECK_THAT(refusal("dlrm:tables=[10,0]", 4), Catch::Contains("tables"));
  CHECK_THAT(refusal("dlrm:lookups=[1,2]", 4), Catch::Contains("26 tables: 2 are given"));
  CHECK_THAT(refusal("dlrm:bottom=[512,64]", 4), Catch::Contains("128"));
  CHECK_THAT(refusal("dlrm:columns=3", 4), Catch::Contains("it must divide dim, 128"));
  CHECK_THAT(refusal("dlrm:placement=best", 4), Catch::Contains("round_robin"));
  CHECK_THAT(refusal("dlrm:batch=3", 4), Catch::Contains("4 at least"));
}
