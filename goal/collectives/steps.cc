#include "goal/collectives/steps.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weft::goal {

RankOrder::RankOrder(std::vector<std::uint32_t> by_place, const std::vector<std::uint32_t>& node_ranks)
    : ranks(std::move(by_place)), places(ranks.size()) {
  for (std::uint32_t place = 0; place < ranks.size(); ++place) places[ranks[place]] = place;
  if (node_ranks.empty()) return;
  begins.push_back(0);
  for (const std::uint32_t count : node_ranks) {
    nodes.insert(nodes.end(), count, static_cast<std::uint32_t>(begins.size() - 1));
    begins.push_back(begins.back() + count);
    divisor = std::gcd(divisor, count);
  }
}

CollectiveCall::NodeGpus CollectiveCall::node() const {
  const NodePlaces all = nodes();
  const std::uint32_t node = all.node_of(place());
  return {all.first(node), all.on(node)};
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
