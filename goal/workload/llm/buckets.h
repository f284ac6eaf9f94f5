// Gradients are reduced, and weights gathered, in buckets of several parts of a model.
//
// Source: Megatron-LM's distributed_data_parallel: a bucket is closed by the part with which it reaches
// max(40,000,000; 1,000,000 · ranks) parameters, from the last part to the first.
#pragma once

#include <vector>

#include "goal/workload/llm/training.h"

namespace weft::goal::llm {

// Parameters of each part of a chunk, in forward order: the embedding if it has it, attention and MLP of each
// layer, the head if it has it.
std::vector<RankWeights> parts_of(const Training& training, const Chunk& chunk);

// For each part: the parameters of the bucket that it closes, 0 if none ends there. Experts have buckets of
// their own.
std::vector<RankWeights> buckets_of(const Training& training, const std::vector<RankWeights>& parts);

}  // namespace weft::goal::llm
