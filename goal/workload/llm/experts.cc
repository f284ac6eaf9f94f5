#include "goal/workload/llm/experts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/units/random.h"

namespace weft::goal::llm {
namespace {

// Returns the shares of this layer's experts, by their number: each layer has an order of its own.
std::vector<double> shares_of_layer(const Training& training, std::uint32_t layer,
                                    const std::vector<double>& shares) {
  RandomStream random(training.seed, layer);
  std::vector<double> shuffled = shares;
  for (std::size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[random.below(i)]);
  return shuffled;
}

// Rounded so that no copy is lost or made: the sum over ranks is that of the shares.
std::vector<std::uint64_t> copies_to_ranks(const Training& training, const std::vector<double>& shares) {
  const std::size_t ranks = training.layout.expert, each = shares.size() / ranks;
  const auto tokens = static_cast<double>(training.own_tokens());
  std::vector<std::uint64_t> copies;
  double sum = 0;
  std::uint64_t before = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < each; ++i) sum += shares[rank * each + i];
    const auto until = static_cast<std::uint64_t>(std::llround(tokens * sum));
    copies.push_back(until - before);
    before = until;
  }
  return copies;
}

}  // namespace

std::vector<double> expert_shares(std::uint32_t experts, std::uint32_t top_k, double skew) {
  std::vector<double> weights(experts);
  for (std::uint32_t i = 0; i < experts; ++i) weights[i] = std::pow(i + 1, -skew);
  // From each expert on, added up from the smallest.
  std::vector<double> left(weights.rbegin(), weights.rend());
  std::partial_sum(left.begin(), left.end(), left.begin());
  std::reverse(left.begin(), left.end());
  // Experts that every token takes; the others share what is left of it.
  std::uint32_t all = 0;
  while (all < std::min(top_k, experts) && (top_k - all) * weights[all] >= left[all]) ++all;
  const double scale = all < experts ? (top_k - all) / left[all] : 0;
  for (std::uint32_t i = 0; i < experts; ++i) weights[i] = i < all ? 1 : weights[i] * scale;
  return weights;
}

double nodes_of_token(std::uint32_t experts, std::uint32_t top_k, std::uint32_t nodes, std::uint32_t groups,
                      std::uint32_t most) {
  const double node = experts / nodes, group = experts / groups;
  // Chances to have reached so many groups, and so many nodes.
  using Chances = std::vector<std::vector<double>>;
  const Chances none(top_k + 1, std::vector<double>(top_k + 1));
  Chances chances = none;
  chances[0][0] = 1;
  for (std::uint32_t copy = 0; copy < top_k; ++copy) {
    Chances next = none;
    for (std::uint32_t g = 0; g <= copy; ++g) {
      for (std::uint32_t n = 0; n <= copy; ++n) {
        if (chances[g][n] == 0) continue;
        // Experts that may be the next one: all, those of new groups, and of those the ones on new nodes.
        const bool full = g == most;
        const double all = (full ? most * group : experts) - copy;
        const double new_groups = full ? 0 : (groups - g) * group;
        const double both = full ? 0 : nodes >= groups ? new_groups : (nodes - n) * node;
        // Groups on several nodes have new ones as well.
        const double new_nodes = nodes >= groups ? g * group - n * node : 0;
        const double chance = chances[g][n] / all;
        next[g + 1][n + 1] += chance * both;
        next[g + 1][n] += chance * (new_groups - both);
        next[g][n + 1] += chance * new_nodes;
        next[g][n] += chance * (all - new_groups - new_nodes);
      }
    }
    chances = std::move(next);
  }
  double mean = 0;
  for (const std::vector<double>& of_groups : chances) {
    for (std::uint32_t n = 0; n <= top_k; ++n) mean += n * of_groups[n];
  }
  return mean;
}

std::vector<ExpertLoad> expert_loads(const Training& training) {
  std::vector<ExpertLoad> loads;
  if (training.expert_skew == 0 || training.layout.expert == 1) return loads;
  const ModelShape& model = training.model;
  const std::vector<double> shares = expert_shares(model.experts, model.top_k, training.expert_skew);
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    ExpertLoad& load = loads.emplace_back();
    if (!model.has_experts(layer)) continue;
    load.copies = copies_to_ranks(training, shares_of_layer(training, layer, shares));
    for (const std::uint64_t copies : load.copies) {
      load.times.push_back(expert_times(training, copies * training.layout.expert));
    }
  }
  return loads;
}

}  // namespace weft::goal::llm
