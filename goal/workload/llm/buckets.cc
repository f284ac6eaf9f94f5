#include "goal/workload/llm/buckets.h"

#include <algorithm>

namespace weft::goal::llm {
namespace {

constexpr std::uint64_t kLeast = 40'000'000, kOfEachRank = 1'000'000;

void fill(const Training& training, Axis axis, std::uint64_t RankWeights::*member,
          const std::vector<RankWeights>& parts, std::vector<RankWeights>& buckets) {
  const std::uint64_t full =
      std::max(kLeast, kOfEachRank * training.layout.size(axis) * training.layout.replicas);
  std::uint64_t open = 0;
  for (std::size_t i = parts.size(); i-- > 0;) {
    open += parts[i].*member;
    if (open < full && i > 0) continue;
    buckets[i].*member = open;
    open = 0;
  }
}

}  // namespace

std::vector<RankWeights> parts_of(const Training& training, const Chunk& chunk) {
  std::vector<RankWeights> parts;
  if (chunk.embedding) parts.push_back(embedding_weights(training));
  for (std::uint32_t i = 0; i < chunk.layers; ++i) {
    parts.push_back(attention_weights(training));
    parts.push_back(mlp_weights(training, chunk.first + i));
  }
  if (chunk.head) parts.push_back(head_weights(training));
  return parts;
}

std::vector<RankWeights> buckets_of(const Training& training, const std::vector<RankWeights>& parts) {
  std::vector<RankWeights> buckets(parts.size());
  fill(training, Axis::kData, &RankWeights::dense, parts, buckets);
  fill(training, Axis::kExpertData, &RankWeights::experts, parts, buckets);
  return buckets;
}

}  // namespace weft::goal::llm
