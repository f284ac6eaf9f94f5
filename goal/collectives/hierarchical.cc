#include <algorithm>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"
#include "goal/collectives/fold.h"
#include "goal/collectives/trees.h"

namespace weft::goal {

// Combined up a binomial tree within each node, among the nodes' first ranks by Rabenseifner's algorithm, and
// passed down within each node.
bool allreduce_hierarchical(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  const std::uint32_t per_node = std::min(call.options->ranks_per_node, call.size);
  const std::uint32_t node = call.me / per_node, first = node * per_node, v = call.me - first;
  const std::uint32_t nodes = (call.size + per_node - 1) / per_node;
  const NomialTree tree{std::min(per_node, call.size - first)};
  const Segments whole({0, call.collective->bytes}, call.collective->element_bytes, 0);
  const auto rank = [&](std::uint32_t place) { return first + place; };

  const std::uint32_t up = tree_groups(v, whole);
  if (index < up) return combine_up(tree, v, rank, whole, index, 0, out);
  index -= up;
  if (v == 0 && nodes > 1) {
    const Fold fold(nodes, node);
    const std::uint32_t among = fold_groups(fold, 2 * fold.rounds());
    if (index < among) {
      allreduce_rabenseifner({call.collective, nodes, node, call.options}, lane, index, out);
      out.on_ranks(0, per_node);
      return true;
    }
    index -= among;
  }
  return pass_down(tree, v, rank, whole, index, 0, out);
}

}  // namespace weft::goal
