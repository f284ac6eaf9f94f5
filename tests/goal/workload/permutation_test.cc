#include "goal/workload/permutation.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

using namespace weft;
using namespace weft::goal;

namespace {

Graph permutation(std::uint32_t ranks, std::uint64_t seed) {
  const Workload workload = permutation_workload();
  return workload.generate(Parameters(workload.info, std::map<std::string, std::string>{{"size", "1000"}}),
                           ranks, seed);
}

std::vector<Rank> destinations(const Graph& graph) {
  std::vector<Rank> to;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) {
      if (graph.rank(r).kind(i) == OpKind::kSend) to.push_back(graph.rank(r).peer(i));
    }
  }
  return to;
}

}  // namespace

TEST_CASE("every rank sends once, receives once from who sends to it, and never to itself") {
  for (const std::uint32_t ranks : {2u, 3u, 16u, 1000u}) {
    const Graph graph = permutation(ranks, 7);
    const std::vector<Rank> to = destinations(graph);
    REQUIRE(to.size() == ranks);
    CHECK(std::set<Rank>(to.begin(), to.end()).size() == ranks);
    for (Rank r = 0; r < ranks; ++r) {
      REQUIRE(to[r] != r);
      REQUIRE(graph.rank(r).ops() == 2);
      CHECK(to[graph.rank(r).peer(0)] == r);
      CHECK(graph.rank(r).value(0) == 1000);
    }
  }
}

TEST_CASE("the seed decides the permutation") {
  CHECK(destinations(permutation(64, 1)) == destinations(permutation(64, 1)));
  CHECK(destinations(permutation(64, 1)) != destinations(permutation(64, 2)));
}

TEST_CASE("all derangements of 4 are about equally likely") {
  // There are 9; 9,000 draws give 1,000 each with a standard deviation of 30. Six of those are allowed.
  std::map<std::vector<Rank>, int> counts;
  for (std::uint64_t seed = 0; seed < 9000; ++seed) ++counts[destinations(permutation(4, seed))];
  CHECK(counts.size() == 9);
  for (const auto& [to, count] : counts) CHECK(std::abs(count - 1000) < 180);
}

TEST_CASE("one host has nobody to send to") { CHECK_THROWS_AS(permutation(1, 1), InputError); }
