// NCCL's choices as algorithms of the list.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "goal/collectives/nccl/tuner.h"
#include "goal/graph/graph.h"
#include "sim/units/module.h"

namespace weft::goal::nccl {

// A tuner from the parameters of the profile `nccl`, which replays what it chooses. Throws InputError.
Tuner tuner_of(const Parameters& parameters);

// "nccl_ring:protocol=ll128,channels=16,ranks_per_node=8"; nothing for kinds that NCCL has no algorithm for.
// Uses only what every rank of the communicator knows.
std::optional<std::string> algorithm_for(const Tuner& tuner, const Collective& collective,
                                         std::uint32_t ranks);

}  // namespace weft::goal::nccl
