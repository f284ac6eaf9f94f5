// NCCL's choices as algorithms of the list.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "goal/collectives/nccl/tuner.h"
#include "goal/graph/graph.h"
#include "sim/units/module.h"

namespace weft::goal::nccl {

// A tuner from the parameters of the profile `nccl`, which replays what it chooses. Throws InputError.
Tuner tuner_of(const Parameters& parameters);

// How many ranks of a group are on each of its nodes, where `gpus` consecutive ranks of the world fill one:
// `gpus` for the world (no members), and for a group within a node; 1 where its nodes don't have equally
// many, next to each other in the group, but for the first and the last, which may have fewer.
NodeRanks ranks_of_nodes(const std::vector<Rank>& members, std::uint32_t gpus);

// "nccl_ring:protocol=ll128,channels=16,ranks_per_node=8"; nothing for kinds that NCCL has no algorithm for.
// Uses only what every rank of the communicator knows.
std::optional<std::string> algorithm_for(const Tuner& tuner, const Collective& collective,
                                         std::uint32_t ranks);

}  // namespace weft::goal::nccl
