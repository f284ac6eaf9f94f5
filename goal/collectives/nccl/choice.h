// NCCL's choices as algorithms of the list.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "goal/collectives/nccl/tuner.h"
#include "goal/graph/graph.h"
#include "sim/units/module.h"

namespace weft::goal::nccl {

// A tuner from the parameters of the profile `nccl`, which replays what it chooses. Throws InputError.
Tuner tuner_of(const Parameters& parameters);

// How many ranks of a group (no members: of the world) are taken for those of a node, so that consecutive
// ones share it: as many as its nodes have next to each other in the group, the first and the last perhaps
// fewer; where others have unequal numbers, what divides them all; 1 where the group comes back to a node;
// `gpus` for a group within one. `nodes`: of each rank of the world; none: `gpus` consecutive ranks fill one.
NodeRanks ranks_of_nodes(const std::vector<Rank>& members, std::uint32_t gpus,
                         std::span<const std::uint32_t> nodes = {});

// "nccl_ring:protocol=ll128,channels=16,ranks_per_node=8"; nothing for kinds that NCCL has no algorithm for.
// Uses only what every rank of the communicator knows.
std::optional<std::string> algorithm_for(const Tuner& tuner, const Collective& collective,
                                         std::uint32_t ranks);

}  // namespace weft::goal::nccl
