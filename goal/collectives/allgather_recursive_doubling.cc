#include "goal/collectives/algorithms.h"
#include "goal/collectives/allgather_phases.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {

bool allgather_recursive_doubling(const CollectiveCall& call, std::uint32_t, std::uint32_t index,
                                  Group& out) {
  const auto blocks = [&](std::uint32_t first, std::uint32_t count) {
    return rank_blocks(call, first, count, out);
  };
  const auto rank = [](std::uint32_t place) { return place; };
  return DoublingAllgather(call.size, call.me, blocks, rank).expand(index, 0, out);
}

}  // namespace weft::goal
