// Rules that choose an algorithm by the size of a call.
#include "goal/collectives/selection.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using Kind = CollectiveKind;

std::string message_of(const std::string& table) {
  try {
    SelectionTable(table, "t.txt");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string from_table(const SelectionTable& table, const Collective& call, std::uint32_t ranks) {
  const ChosenAlgorithm* found = table.find(call, ranks);
  return found == nullptr ? "none" : found->algorithm->info.name;
}

}  // namespace

TEST_CASE("without choices each kind has its first algorithm") {
  const CollectiveSelection selection;
  std::set<Kind> seen;
  for (const CollectiveAlgorithm& algorithm : collective_algorithms()) {
    if (!seen.insert(algorithm.kind).second) continue;
    CHECK(selection.choose({.kind = algorithm.kind, .bytes = 8}, 8).algorithm->info.name ==
          algorithm.info.name);
  }
}

TEST_CASE("a graph may ask for an algorithm; the scenario's word is stronger, a profile's weaker") {
  const Collective call{.kind = Kind::kAlltoall, .bytes = 8, .algorithm = "windowed:parallel=5"};
  CollectiveChoices choices;
  choices.profile = "mpich";
  const CollectiveSelection profile(choices);
  CHECK(profile.choose(call, 8).algorithm->info.name == "windowed");
  CHECK(profile.choose(call, 8).options.parallel == 5);
  CHECK(profile.choose({.kind = Kind::kAlltoall, .bytes = 8}, 8).algorithm->info.name != "windowed");
  choices.forced[static_cast<int>(Kind::kAlltoall)] = "pairwise";
  CHECK(CollectiveSelection(choices).choose(call, 8).algorithm->info.name == "pairwise");
  CHECK_THROWS_AS(profile.choose({.kind = Kind::kAlltoall, .bytes = 8, .algorithm = "windwed"}, 8),
                  InputError);
}

TEST_CASE("the first rule whose conditions hold decides") {
  const SelectionTable table(R"(
# comment
allreduce ranks<4 ring
allreduce ranks>=8 ranks<=16 bytes<8KiB recursive_doubling   # another
allreduce power=ranks bytes>100 ring
alltoall bytes=64 bruck:radix=4
allgather total>=1MB ring
allgather elements<power linear
)",
                             "t.txt");
  const auto allreduce = [&](std::uint32_t ranks, std::uint64_t bytes) {
    return from_table(table, {.kind = Kind::kAllreduce, .bytes = bytes}, ranks);
  };
  CHECK(allreduce(3, 1) == "ring");
  CHECK(allreduce(4, 100) == "none");
  CHECK(allreduce(4, 101) == "ring");
  CHECK(allreduce(5, 101) == "none");
  CHECK(allreduce(8, 8191) == "recursive_doubling");
  CHECK(allreduce(8, 8192) == "ring");
  CHECK(allreduce(16, 8191) == "recursive_doubling");
  CHECK(allreduce(17, 8191) == "none");
  const ChosenAlgorithm* bruck = table.find({.kind = Kind::kAlltoall, .bytes = 64}, 9);
  REQUIRE(bruck != nullptr);
  CHECK(bruck->options.radix == 4);
  CHECK(from_table(table, {.kind = Kind::kAlltoall, .bytes = 65}, 9) == "none");
  // All ranks' blocks together; elements of one block.
  CHECK(from_table(table, {.kind = Kind::kAllgather, .bytes = 100'000}, 10) == "ring");
  CHECK(from_table(table, {.kind = Kind::kAllgather, .bytes = 99'999}, 10) == "none");
  CHECK(from_table(table, {.kind = Kind::kAllgather, .bytes = 31, .element_bytes = 4}, 10) == "linear");
  CHECK(from_table(table, {.kind = Kind::kAllgather, .bytes = 32, .element_bytes = 4}, 10) == "none");
  CHECK(from_table(table, {.kind = Kind::kBarrier}, 10) == "none");
}

TEST_CASE("sizes that not all ranks know decide nothing") {
  const SelectionTable table(
      "alltoall bytes>=0 bruck\nalltoall v linear\n"
      "allgather v bytes<10 bruck\nallgather v total<100 linear\nallgather plain ring\n",
      "t.txt");
  const std::vector<std::uint64_t> counts = {1, 2, 30};
  const Collective alltoallv{.kind = Kind::kAlltoall, .counts = counts, .receive_counts = counts};
  CHECK(from_table(table, alltoallv, 3) == "linear");
  CHECK(from_table(table, {.kind = Kind::kAlltoall, .bytes = 1}, 3) == "bruck");
  // The mean, rounded down, and the sum.
  CHECK(from_table(table, {.kind = Kind::kAllgather, .counts = {1, 2, 26}}, 3) == "bruck");
  CHECK(from_table(table, {.kind = Kind::kAllgather, .counts = {1, 2, 27}}, 3) == "linear");
  CHECK(from_table(table, {.kind = Kind::kAllgather, .counts = {1, 2, 97}}, 3) == "none");
  CHECK(from_table(table, {.kind = Kind::kAllgather, .bytes = 5}, 3) == "ring");
}

TEST_CASE("faults of a table are told with their place") {
  CHECK(message_of("allreduce ring\nalreduce ring\n")
            .find("t.txt:2:1: 'alreduce' is not a kind of collective; "
                  "did you mean 'allreduce'?") == 0);
  CHECK(message_of("allreduce ranks<4 rng\n").find("t.txt:1:19: 'rng' is not a known allreduce algorithm") ==
        0);
  CHECK(message_of("allreduce\n").find("t.txt:1:10: found the end of the line") == 0);
  CHECK(message_of("allreduce byte<4 ring\n").find("t.txt:1:11: 'byte<4' is not a condition") == 0);
  CHECK(message_of("allreduce ranks ring\n").find("t.txt:1:11: 'ranks' is not a condition") == 0);
  CHECK(message_of("allreduce ranks<x ring\n").find("t.txt:1:11: found 'x'; expected a number") == 0);
  CHECK(message_of("allreduce ranks<8KiB ring\n").find("t.txt:1:11: found '8KiB'; expected a number") == 0);
  CHECK(message_of("allreduce bytes<8parsec ring\n").find("t.txt:1:11: ") == 0);
  CHECK(message_of("allreduce bytes< ring\n").find("t.txt:1:11: ") == 0);
  CHECK(message_of("alltoall bruck:radix=1\n").find("t.txt:1:10: ") == 0);
  CHECK(message_of("alltoall bruck:base=2\n").find("t.txt:1:10: ") == 0);
  CHECK(message_of("").empty());
}

}  // namespace weft::goal
