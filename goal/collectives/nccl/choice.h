// NCCL's choices as algorithms of the list.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "goal/collectives/nccl/tuner.h"
#include "goal/graph/graph.h"
#include "sim/units/module.h"

namespace weft::goal::nccl {

// A tuner from the parameters of the profile `nccl`, which replays what it chooses. Throws InputError.
Tuner tuner_of(const Parameters& parameters);

// The nodes of a group, in the order of their first ranks.
struct GroupNodes {
  NodeRanks on;              // those of a group within one node: all its GPUs
  std::uint32_t uneven = 0;  // how many nodes, where `on` has but the most and the fewest ranks of them
  std::shared_ptr<const RankOrder> order;  // null: the group has the ranks of a node next to each other

  auto key() const { return std::pair(on, uneven); }
};

// `members`: none for the world. `nodes`: of each rank of the world; none: `gpus` consecutive ranks fill one.
GroupNodes nodes_of_group(const std::vector<Rank>& members, std::uint32_t gpus,
                          std::span<const std::uint32_t> nodes = {});

// "nccl_ring:protocol=ll128,channels=16,ranks_per_node=8"; nothing for kinds that NCCL has no algorithm for.
// Uses only what every rank of the communicator knows.
std::optional<std::string> algorithm_for(const Tuner& tuner, const Collective& collective,
                                         std::uint32_t ranks);

}  // namespace weft::goal::nccl
