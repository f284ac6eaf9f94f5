#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "goal/collectives/steps.h"

namespace weft::goal {
namespace {

struct Arrow {
  std::uint32_t from, to;
  std::uint64_t bytes;
};

// The calls of all ranks for the arrows of a graph, with counts if `v`, in the order of the arrows.
std::vector<Collective> calls_of(CollectiveKind kind, const std::vector<Arrow>& arrows, std::uint32_t ranks,
                                 bool v) {
  std::vector<Collective> calls(ranks, {.kind = kind, .bytes = v ? 0u : 64u});
  for (const Arrow& arrow : arrows) {
    calls[arrow.from].destinations.push_back(arrow.to);
    calls[arrow.to].sources.push_back(arrow.from);
    if (!v) continue;
    if (kind == CollectiveKind::kNeighborAlltoall) calls[arrow.from].counts.push_back(arrow.bytes);
    calls[arrow.to].receive_counts.push_back(arrow.bytes);
    if (kind == CollectiveKind::kNeighborAllgather) calls[arrow.from].bytes = arrow.bytes;
  }
  return calls;
}

using Pair = std::pair<std::uint32_t, std::uint32_t>;  // from, to
// Bytes of the messages of each pair, in the order of their tags.
using Messages = std::map<Pair, std::vector<std::uint64_t>>;

Messages messages_of(const std::vector<Collective>& calls, StepKind kind) {
  const auto ranks = static_cast<std::uint32_t>(calls.size());
  const ChosenAlgorithm chosen = choose_collective_algorithm(calls[0].kind, "");
  Messages all;
  for (std::uint32_t me = 0; me < ranks; ++me) {
    const CollectiveCall call{&calls[me], ranks, me, &chosen.options};
    REQUIRE(chosen.lanes(call) == 1);
    Group group;
    REQUIRE(chosen.algorithm->expand(call, 0, 0, group));
    for (const Step& step : group.steps()) {
      REQUIRE(step.count == 1);
      if (step.kind != kind) continue;
      const Pair pair = kind == StepKind::kSend ? Pair{me, step.peer} : Pair{step.peer, me};
      REQUIRE(all[pair].size() == step.tag);
      all[pair].push_back(call.bytes(step, step.peer));
    }
    CHECK(!chosen.algorithm->expand(call, 0, 1, group));
  }
  return all;
}

void check(CollectiveKind kind, const std::vector<Arrow>& arrows, std::uint32_t ranks, bool v) {
  Messages expected;
  for (const Arrow& arrow : arrows) {
    if (arrow.from != arrow.to) expected[{arrow.from, arrow.to}].push_back(v ? arrow.bytes : 64);
  }
  const std::vector<Collective> calls = calls_of(kind, arrows, ranks, v);
  CHECK(messages_of(calls, StepKind::kSend) == expected);
  CHECK(messages_of(calls, StepKind::kRecv) == expected);
}

}  // namespace

TEST_CASE("each arrow of a neighborhood is one message, repeated ones in their order") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t ranks = 2 + static_cast<std::uint32_t>(random() % 12);
    std::vector<Arrow> arrows;
    for (auto n = random() % 40; n > 0; --n) {
      arrows.push_back({static_cast<std::uint32_t>(random() % ranks),
                        static_cast<std::uint32_t>(random() % ranks), random() % 5});
    }
    check(CollectiveKind::kNeighborAlltoall, arrows, ranks, false);
    check(CollectiveKind::kNeighborAlltoall, arrows, ranks, true);
    check(CollectiveKind::kNeighborAllgather, arrows, ranks, false);
    // A rank sends the same to all.
    for (Arrow& arrow : arrows) arrow.bytes = 10 * arrow.from;
    check(CollectiveKind::kNeighborAllgather, arrows, ranks, true);
  }
}

TEST_CASE("a ring of two ranks has each of them as both neighbors of the other") {
  const std::vector<Arrow> arrows = {{0, 1, 10}, {0, 1, 20}, {1, 0, 30}, {1, 0, 40}};
  check(CollectiveKind::kNeighborAlltoall, arrows, 2, true);
  CHECK(messages_of(calls_of(CollectiveKind::kNeighborAlltoall, arrows, 2, true), StepKind::kSend) ==
        Messages{{{0, 1}, {10, 20}}, {{1, 0}, {30, 40}}});
}

}  // namespace weft::goal
