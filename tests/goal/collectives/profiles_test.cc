// What the profiles of MPI libraries choose, against the switch points in the libraries' sources.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "goal/collectives/selection.h"
#include "goal/collectives/selection_profiles.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using Kind = CollectiveKind;

std::string chosen(const CollectiveSelection& selection, const Collective& call, std::uint32_t ranks) {
  return selection.choose(call, ranks).algorithm->info.name;
}

// The algorithm changes at each of these sizes: what it is one byte below, and there.
struct Switch {
  std::uint64_t bytes;
  const char* below;
  const char* at;
};

class Profile {
 public:
  explicit Profile(const std::string& name) : selection_({{}, {}, name}) {}

  void check(Kind kind, std::vector<std::uint32_t> all_ranks, const std::vector<Switch>& switches) const {
    for (const std::uint32_t ranks : all_ranks) {
      for (const Switch& one : switches) {
        INFO(name(kind) << ", " << ranks << " ranks, " << one.bytes << " bytes");
        CHECK(chosen(selection_, {.kind = kind, .bytes = one.bytes - 1}, ranks) == one.below);
        CHECK(chosen(selection_, {.kind = kind, .bytes = one.bytes}, ranks) == one.at);
      }
    }
  }
  // The v form, with blocks of the same size.
  void check_v(Kind kind, std::vector<std::uint32_t> all_ranks, const std::vector<Switch>& switches) const {
    for (const std::uint32_t ranks : all_ranks) {
      for (const Switch& one : switches) {
        INFO(name(kind) << " v, " << ranks << " ranks, " << one.bytes << " bytes a rank");
        CHECK(of_counts(kind, ranks, one.bytes - 1) == one.below);
        CHECK(of_counts(kind, ranks, one.bytes) == one.at);
      }
    }
  }
  std::string of_counts(Kind kind, std::uint32_t ranks, std::uint64_t bytes) const {
    Collective call{.kind = kind, .counts = std::vector<std::uint64_t>(ranks, bytes)};
    if (kind == Kind::kAlltoall) call.receive_counts = call.counts;
    return chosen(selection_, call, ranks);
  }
  std::string of(const Collective& call, std::uint32_t ranks) const {
    return chosen(selection_, call, ranks);
  }

 private:
  CollectiveSelection selection_;
};

}  // namespace

TEST_CASE("forced algorithms come before the table, and that before the profile") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/table.txt";
  std::ofstream(path) << "allreduce bytes<1000 ring\n";
  CollectiveChoices choices;
  choices.table = path;
  choices.profile = "mpich";
  const auto allreduce = [&](std::uint64_t bytes) {
    return chosen(CollectiveSelection(choices), {.kind = Kind::kAllreduce, .bytes = bytes}, 8);
  };
  CHECK(allreduce(999) == "ring");
  CHECK(allreduce(1000) == "rabenseifner");
  choices.profile = "default";
  CHECK(allreduce(1000) == "recursive_doubling");
  choices.forced[static_cast<int>(Kind::kAllreduce)] = "ring";
  CHECK(allreduce(1000) == "ring");
  choices.table = path + ".none";
  CHECK_THROWS_AS(CollectiveSelection(choices), InputError);
  choices.table.clear();
  choices.profile = "openmpl";
  CHECK_THROWS_WITH(CollectiveSelection(choices), Catch::Contains("did you mean 'openmpi'?"));
}

TEST_CASE("profiles have an answer for every call of the MPI libraries' own rules") {
  CHECK(selection_profiles()[0].info.name == "default");
  for (const SelectionProfile& profile : selection_profiles().subspan(1)) {
    if (profile.info.name == kNcclProfile) continue;  // no table
    const SelectionTable table(profile.table, profile.info.name);
    for (int kind = 0; kind <= static_cast<int>(Kind::kExscan); ++kind) {
      for (std::uint32_t ranks = 2; ranks <= 5000; ranks += 1 + ranks / 4) {
        for (std::uint64_t bytes = 0; bytes < 10'000'000; bytes = 2 * bytes + 1) {
          INFO(profile.info.name << " " << name(static_cast<Kind>(kind)) << " " << ranks << " " << bytes);
          const Collective call{.kind = static_cast<Kind>(kind), .bytes = bytes, .element_bytes = 8};
          REQUIRE(table.find(call, ranks) != nullptr);
        }
      }
    }
  }
}

TEST_CASE("openmpi: allreduce, bcast, reduce at the switch points of its source") {
  const Profile openmpi("openmpi");
  openmpi.check(Kind::kAllreduce, {3},
                {{8, "ring", "recursive_doubling"},
                 {4096, "recursive_doubling", "ring"},
                 {8192, "ring", "recursive_doubling"},
                 {16384, "recursive_doubling", "ring"},
                 {65536, "ring", "ring"},
                 {262144, "ring", "rabenseifner"}});
  openmpi.check(Kind::kAllreduce, {4, 7},
                {{16, "ring", "recursive_doubling"}, {8192, "recursive_doubling", "rabenseifner"}});
  openmpi.check(Kind::kAllreduce, {8, 15}, {{8192, "recursive_doubling", "rabenseifner"}});
  openmpi.check(Kind::kAllreduce, {16, 31},
                {{64, "ring", "recursive_doubling"}, {4096, "recursive_doubling", "rabenseifner"}});
  openmpi.check(Kind::kAllreduce, {32, 63}, {{128, "ring", "rabenseifner"}});
  openmpi.check(Kind::kAllreduce, {64, 127}, {{262144, "recursive_doubling", "rabenseifner"}});
  openmpi.check(
      Kind::kAllreduce, {128, 255},
      {{131072, "reduce_bcast", "recursive_doubling"}, {262144, "recursive_doubling", "rabenseifner"}});
  openmpi.check(Kind::kAllreduce, {256, 511}, {{4096, "reduce_bcast", "rabenseifner"}});
  openmpi.check(
      Kind::kAllreduce, {512, 2047},
      {{2048, "reduce_bcast", "recursive_doubling"}, {16384, "recursive_doubling", "rabenseifner"}});
  openmpi.check(Kind::kAllreduce, {2048},
                {{2048, "reduce_bcast", "ring"},
                 {4096, "ring", "recursive_doubling"},
                 {16384, "recursive_doubling", "rabenseifner"}});
  openmpi.check(Kind::kAllreduce, {4096},
                {{2048, "reduce_bcast", "recursive_doubling"},  // fewer elements than ranks
                 {16384, "ring", "recursive_doubling"},
                 {32768, "recursive_doubling", "rabenseifner"}});
  // Too few elements to give each rank one.
  CHECK(openmpi.of({.kind = Kind::kAllreduce, .bytes = 248, .element_bytes = 8}, 40) == "reduce_bcast");
  CHECK(openmpi.of({.kind = Kind::kAllreduce, .bytes = 256, .element_bytes = 8}, 40) == "rabenseifner");

  openmpi.check(Kind::kBcast, {2, 3},
                {{32, "pipelined_chain", "binary_tree"},
                 {256, "binary_tree", "pipelined_chain"},
                 {512, "pipelined_chain", "knomial_tree"},
                 {1024, "knomial_tree", "linear"},
                 {32768, "linear", "binary_tree"},
                 {131072, "binary_tree", "pipelined_chain"},
                 {262144, "pipelined_chain", "linear"},
                 {524288, "linear", "binomial_tree"},
                 {1048576, "binomial_tree", "binary_tree"}});
  openmpi.check(Kind::kBcast, {8, 15},
                {{8, "knomial_tree", "binary_tree"},
                 {64, "binary_tree", "knomial_tree"},
                 {4096, "knomial_tree", "binary_tree"},
                 {16384, "binary_tree", "binomial_tree"},
                 {32768, "binomial_tree", "linear"}});
  openmpi.check(Kind::kBcast, {16, 31},
                {{4096, "knomial_tree", "binomial_tree"}, {1048576, "binomial_tree", "scatter_allgather"}});
  openmpi.check(Kind::kBcast, {256, 1023},
                {{16384, "knomial_tree", "split_binary_tree"}, {32768, "split_binary_tree", "knomial_tree"}});
  openmpi.check(Kind::kBcast, {1024, 2047}, {{524288, "knomial_tree", "scatter_allgather"}});
  openmpi.check(Kind::kBcast, {4096},
                {{8192, "knomial_tree", "binary_tree"},
                 {16384, "binary_tree", "knomial_tree"},
                 {262144, "knomial_tree", "scatter_allgather"}});

  openmpi.check(Kind::kReduce, {3},
                {{8, "rabenseifner", "binary_tree"},
                 {16, "binary_tree", "pipelined_chain"},
                 {32, "pipelined_chain", "linear"},
                 {262144, "linear", "pipelined_chain"}});
  openmpi.check(Kind::kReduce, {4, 7},
                {{4096, "binary_tree", "pipelined_chain"},
                 {65536, "pipelined_chain", "binomial_tree"},
                 {262144, "binomial_tree", "linear"},
                 {524288, "linear", "binomial_tree"},
                 {1048576, "binomial_tree", "linear"}});
  openmpi.check(Kind::kReduce, {8, 15}, {{8192, "binary_tree", "binomial_tree"}});
  openmpi.check(Kind::kReduce, {16, 31}, {{4096, "binary_tree", "binomial_tree"}});
  openmpi.check(Kind::kReduce, {256, 511},
                {{8192, "binomial_tree", "binary_tree"}, {16384, "binary_tree", "binomial_tree"}});
}

TEST_CASE("openmpi: kinds made of blocks at the switch points of its source") {
  const Profile openmpi("openmpi");
  openmpi.check(Kind::kAllgather, {2}, {{1, "recursive_doubling", "recursive_doubling"}});
  openmpi.check(Kind::kAllgather, {4, 16}, {{100'000, "recursive_doubling", "recursive_doubling"}});
  openmpi.check(Kind::kAllgather, {3, 31}, {{100'000, "bruck", "bruck"}});  // no power of two
  openmpi.check(Kind::kAllgather, {32},
                {{1024, "recursive_doubling", "neighbor_exchange"}, {65536, "neighbor_exchange", "ring"}});
  openmpi.check(Kind::kAllgather, {63}, {{1024, "bruck", "neighbor_exchange"}});
  openmpi.check(Kind::kAllgather, {256},
                {{32, "recursive_doubling", "bruck"},
                 {128, "bruck", "recursive_doubling"},
                 {1024, "recursive_doubling", "neighbor_exchange"},
                 {131072, "neighbor_exchange", "ring"},
                 {524288, "ring", "neighbor_exchange"},
                 {1048576, "neighbor_exchange", "ring"}});
  openmpi.check_v(Kind::kAllgather, {2},
                  {{2048, "ring", "recursive_doubling"}, {8192, "ring", "recursive_doubling"}});
  openmpi.check_v(Kind::kAllgather, {8, 15}, {{1024, "gather_bcast", "bruck"}});
  openmpi.check_v(Kind::kAllgather, {128, 255},
                  {{1024, "bruck", "neighbor_exchange"}, {65536, "neighbor_exchange", "ring"}});

  openmpi.check(Kind::kAlltoall, {8, 15}, {{262144, "linear", "linear"}});
  openmpi.check(Kind::kAlltoall, {64, 127}, {{1024, "bruck", "linear"}, {262144, "linear", "pairwise"}});
  openmpi.check(Kind::kAlltoall, {256, 511}, {{1024, "bruck", "linear"}, {32768, "linear", "pairwise"}});
  openmpi.check(Kind::kAlltoall, {1024, 2047}, {{512, "bruck", "linear"}});
  openmpi.check_v(Kind::kAlltoall, {2, 3, 64, 127, 256, 1023}, {{100, "pairwise", "pairwise"}});
  openmpi.check_v(Kind::kAlltoall, {4, 63, 128, 255, 1024}, {{100, "linear", "linear"}});

  openmpi.check(Kind::kGather, {4, 7},
                {{1024, "binomial_tree", "linear"},
                 {8192, "linear", "binomial_tree"},
                 {32768, "binomial_tree", "linear"}});
  openmpi.check(Kind::kGather, {256, 511},
                {{2048, "binomial_tree", "linear"}, {8192, "linear", "binomial_tree"}});
  openmpi.check(Kind::kScatter, {64, 5000}, {{512, "binomial_tree", "linear"}});
  openmpi.check(Kind::kScatter, {8, 31}, {{16384, "binomial_tree", "linear"}});
  openmpi.check_v(Kind::kGather, {8}, {{100, "linear", "linear"}});
  openmpi.check_v(Kind::kScatter, {8}, {{100, "linear", "linear"}});

  // MPI_Reduce_scatter_block by one block, MPI_Reduce_scatter by all together.
  openmpi.check(Kind::kReduceScatter, {8, 15},
                {{4, "reduce_then_scatter", "recursive_halving"},
                 {32, "recursive_halving", "butterfly"},
                 {128, "butterfly", "recursive_halving"},
                 {524288, "recursive_halving", "reduce_then_scatter"},
                 {4194304, "reduce_then_scatter", "butterfly"}});
  openmpi.check(Kind::kReduceScatter, {32, 5000},
                {{4, "recursive_halving", "reduce_then_scatter"},
                 {16, "reduce_then_scatter", "butterfly"},
                 {65536, "butterfly", "reduce_then_scatter"},
                 {262144, "reduce_then_scatter", "butterfly"}});
  openmpi.check_v(Kind::kReduceScatter, {8}, {{262144 / 16, "recursive_halving", "recursive_halving"}});
  openmpi.check_v(Kind::kReduceScatter, {16}, {{262144 / 16, "recursive_halving", "ring"}});
  openmpi.check_v(Kind::kReduceScatter, {128},
                  {{2, "reduce_then_scatter", "recursive_halving"}, {4, "recursive_halving", "butterfly"}});

  openmpi.check(Kind::kScan, {4}, {{100, "linear", "linear"}});
  openmpi.check(Kind::kExscan, {4}, {{100, "linear", "linear"}});
  const auto barrier = [&](std::uint32_t ranks) { return openmpi.of({.kind = Kind::kBarrier}, ranks); };
  for (const std::uint32_t ranks : {2u, 3u, 8u, 63u}) CHECK(barrier(ranks) == "recursive_doubling");
  for (const std::uint32_t ranks : {4u, 7u}) CHECK(barrier(ranks) == "linear");
  for (const std::uint32_t ranks : {64u, 255u, 512u, 1023u, 4096u}) CHECK(barrier(ranks) == "dissemination");
  for (const std::uint32_t ranks : {256u, 511u, 1024u, 4095u}) CHECK(barrier(ranks) == "binomial_tree");
}

TEST_CASE("mpich: its control variables' values are where the algorithm changes") {
  const Profile mpich("mpich");
  mpich.check(Kind::kBcast, {7}, {{12289, "binomial_tree", "binomial_tree"}});
  mpich.check(Kind::kBcast, {8, 64},
              {{12289, "binomial_tree", "scatter_allgather"},
               {524289, "scatter_allgather", "scatter_ring_allgather"}});
  mpich.check(Kind::kBcast, {9, 65}, {{12289, "binomial_tree", "scatter_ring_allgather"}});
  mpich.check(Kind::kReduce, {2, 100}, {{2049, "binomial_tree", "rabenseifner"}});
  CHECK(mpich.of({.kind = Kind::kReduce, .bytes = 4088, .element_bytes = 8}, 600) == "binomial_tree");
  CHECK(mpich.of({.kind = Kind::kReduce, .bytes = 4096, .element_bytes = 8}, 600) == "rabenseifner");
  mpich.check(Kind::kAllreduce, {2, 8}, {{9, "recursive_doubling", "rabenseifner"}});
  CHECK(mpich.of({.kind = Kind::kAllreduce, .bytes = 504, .element_bytes = 8}, 100) == "recursive_doubling");
  CHECK(mpich.of({.kind = Kind::kAllreduce, .bytes = 512, .element_bytes = 8}, 100) == "rabenseifner");
  mpich.check(Kind::kReduceScatter, {16}, {{32768, "recursive_halving", "pairwise"}});
  mpich.check_v(Kind::kReduceScatter, {16}, {{32768, "recursive_halving", "pairwise"}});
  mpich.check(Kind::kAllgather, {16}, {{32768, "recursive_doubling", "ring"}});
  mpich.check(Kind::kAllgather, {20}, {{4096, "bruck", "ring"}});
  mpich.check_v(Kind::kAllgather, {20}, {{4096, "bruck", "ring"}});
  mpich.check(Kind::kAlltoall, {7}, {{32769, "spread_out", "pairwise_xor"}});
  mpich.check(Kind::kAlltoall, {8, 9}, {{257, "bruck", "spread_out"}, {32769, "spread_out", "pairwise_xor"}});
  mpich.check_v(Kind::kAlltoall, {8}, {{100'000, "spread_out", "spread_out"}});
  for (const Kind kind : {Kind::kGather, Kind::kScatter}) {
    mpich.check(kind, {8}, {{1'000'000, "binomial_tree", "binomial_tree"}});
    mpich.check_v(kind, {8}, {{1'000'000, "linear", "linear"}});
  }
  mpich.check(Kind::kScan, {8}, {{1'000'000, "recursive_doubling", "recursive_doubling"}});
  mpich.check(Kind::kExscan, {8}, {{1'000'000, "recursive_doubling", "recursive_doubling"}});
  CHECK(mpich.of({.kind = Kind::kBarrier}, 8) == "dissemination");
}

}  // namespace weft::goal
