// Which experts tokens go to, where some experts are more popular than others.
//
// Source: popularity by Zipf's law, experts in random order, as in the power-law routing of bench_moe in
// NVIDIA's TensorRT-LLM (there with an exponent of 0.8).
#pragma once

#include <cstdint>
#include <vector>

#include "goal/workload/llm/times.h"

namespace weft::goal::llm {

// How many of a token's `top_k` copies each expert gets, on average, from the most popular one on: in
// proportion to (place)^-skew, but one at most, as a token takes no expert twice.
std::vector<double> expert_shares(std::uint32_t experts, std::uint32_t top_k, double skew);

// Of a layer. All ranks of a group send alike, in all micro-batches and steps: which experts are popular is a
// property of the layer, and changes slowly.
struct ExpertLoad {
  std::vector<std::uint64_t> copies;  // from each rank of the group to each one, its own among them
  std::vector<ExpertTimes> times;     // of each rank of the group with what it gets
};
// Of each layer; empty if all experts get as many tokens.
std::vector<ExpertLoad> expert_loads(const Training& training);

}  // namespace weft::goal::llm
