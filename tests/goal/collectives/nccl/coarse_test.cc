// Rings in few rounds: the same bytes around the same rings, and costs that add up to those of all rounds.
#include "goal/collectives/nccl/coarse.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/nccl/work.h"

using namespace weft;
using namespace weft::goal;

namespace {

// Bytes that each rank sends to each other in all lanes.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sent(const ChosenAlgorithm& chosen,
                                                                      const Collective& collective,
                                                                      std::uint32_t ranks) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> bytes;
  Group group;
  for (std::uint32_t me = 0; me < ranks; ++me) {
    const CollectiveCall call{&collective, ranks, me, &chosen.options};
    for (std::uint32_t lane = 0; lane < chosen.lanes(call); ++lane) {
      for (std::uint32_t index = 0;; ++index) {
        group.clear();
        if (!chosen.algorithm->expand(call, lane, index, group)) break;
        for (const Step& step : group.steps()) {
          if (step.kind == StepKind::kSend && step.bytes > 0) bytes[{me, step.peer}] += step.bytes;
        }
      }
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("a ring in few rounds sends what all rounds send, to the same ranks") {
  constexpr std::uint32_t kRanks = 128;
  for (const CollectiveKind kind :
       {CollectiveKind::kAllgather, CollectiveKind::kReduceScatter, CollectiveKind::kAllreduce}) {
    for (const std::string protocol : {"simple", "ll128", "ll"}) {
      Collective collective;
      collective.kind = kind;
      collective.bytes = kind == CollectiveKind::kAllreduce ? 256 << 20 : 2 << 20;
      collective.element_bytes = 4;
      ChosenAlgorithm chosen =
          choose_collective_algorithm(kind, "nccl_ring:channels=8,ranks_per_node=8,protocol=" + protocol);
      chosen.options.lane_costs.given = true;
      const auto all = sent(chosen, collective, kRanks);
      const CollectiveCall call{&collective, kRanks, 0, &chosen.options};
      CAPTURE(name(kind), protocol, nccl::ring_messages(call));
      REQUIRE(nccl::coarse_rounds(*chosen.algorithm, call) ==
              (nccl::ring_messages(call) > nccl::kManyRingMessages ? nccl::kCoarseRounds : 0));
      chosen.options.coarse_rounds = nccl::kCoarseRounds;
      const auto few = sent(chosen, collective, kRanks);
      REQUIRE(few.size() == all.size());
      for (const auto& [ends, bytes] : all) {
        REQUIRE(static_cast<double>(few.at(ends)) == Approx(bytes).epsilon(0.02));
      }
    }
  }
}

TEST_CASE("the messages of few rounds stand for all steps of a rank") {
  Collective collective;
  collective.kind = CollectiveKind::kAllgather;
  collective.bytes = 1 << 20;
  collective.element_bytes = 4;
  const ChosenAlgorithm chosen = choose_collective_algorithm(
      CollectiveKind::kAllgather, "nccl_ring:channels=8,ranks_per_node=8,protocol=ll128");
  const CollectiveCall call{&collective, 512, 0, &chosen.options};
  LaneCosts costs;
  costs.given = true;
  costs.step = Time::us(2);
  const LaneCosts few = nccl::coarse_costs(costs, call, nccl::kCoarseRounds, Time::us(1));
  // 511 rounds, nine of which the signals stand for.
  CHECK(few.rounds * nccl::kCoarseRounds == Approx(511 - 9));
  CHECK(few.of_rounds(costs.step, {.bytes = 8}) == Time::ps(std::int64_t{2'000'000} * 502 / 8));
  CHECK(few.of_rounds(costs.step, {.signal = true}) == costs.step);
  CHECK(few.way == Time::us(1));
}
