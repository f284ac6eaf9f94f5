#include "goal/collectives/steps.h"

#include <algorithm>

namespace weft::goal {

CollectiveCall::NodeGpus CollectiveCall::node() const {
  const NodeRanks on = options->on_nodes();
  const std::uint32_t node = on.node_of(me);
  return {on.first_rank(node), on.on(node, size)};
}

std::uint64_t CollectiveCall::in_switch_bytes(std::uint64_t data) const {
  const std::uint64_t k = node().gpus;
  const bool both_ways = collective->kind == CollectiveKind::kAllreduce;
  const std::uint64_t of = both_ways ? k + 1 : k, in = both_ways ? 2 * (k - 1) : k - 1;
  const std::uint64_t bytes = data / in * of + (data % in * of + in - 1) / in;
  return (bytes * 100 + options->efficiency - 1) / options->efficiency;
}

void Group::add(const Step& step, Part part, bool without_data) {
  if (keep_parts_) {
    parts_begin_.push_back(parts_.size());
    if (!without_data) parts_.push_back(part);
  }
  steps_.push_back(step);
}

void Group::add_several(const Step& step) {
  if (step.count == 0) return;
  if (keep_parts_) parts_begin_.push_back(parts_.size());
  steps_.push_back(step);
}

}  // namespace weft::goal
