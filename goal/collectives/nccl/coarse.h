// Rings in few rounds, where messages are fluids and a chunk each would make too many. A ring of n ranks has
// n - 1 rounds or more, all alike: each rank hands on what came, at the rate of the slowest link of the ring.
// Here it has kRounds, each with as much longer messages and as many steps of the channel, behind a round of
// signals that lets no rank begin before all have: in a ring nobody ends before the last rank's chunk has
// been all the way around. BUNDLES.md has the error.
#pragma once

#include <cstdint>

#include "goal/collectives/steps.h"

namespace weft::goal::nccl {

// So many messages of a call, after bundles, have a chunk each.
inline constexpr double kManyRingMessages = 250'000;
// A call with more messages has as many rounds of data as a node has GPUs, so that one in eight messages
// leaves its node, as it does of all.
inline constexpr std::uint32_t kCoarseRounds = 8;

// Rounds of data that a call of this algorithm has then: kCoarseRounds, or 0: as many as it has. REQUIRES:
// the call's options are those with its bundle.
std::uint32_t coarse_rounds(const CollectiveAlgorithm& algorithm, const CollectiveCall& call);

// The costs of a lane whose messages stand for several rounds of this call. `latency`: of the network's way
// between nodes, which one message is spared for each round that it has in it.
LaneCosts coarse_costs(const LaneCosts& costs, const CollectiveCall& call, std::uint32_t rounds,
                       Time latency);

// The part of `call.me` in group `index` of a lane. REQUIRES: call.options->coarse_rounds > 0.
bool coarse_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);

}  // namespace weft::goal::nccl
