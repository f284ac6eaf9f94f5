// Which experts tokens go to, where those are on several nodes, or some more popular than others.
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

// How many nodes a token goes to, on average, with experts divided evenly among `nodes` and among `groups`,
// all popular alike, in closed form: it takes its `top_k` experts in order of their scores, those of the
// `most` groups that come first only. One of the two numbers must divide the other, both that of experts, and
// `most` groups must have `top_k` experts.
//
// Sources: DeepSeek-V2, 2024, section 2.2.2 (groups by their best expert); DeepSeek-V3, 2024, section 2.1.2
// (by the sum of their best top_k / most, which comes to 0.7% less with its numbers).
double nodes_of_token(std::uint32_t experts, std::uint32_t top_k, std::uint32_t nodes, std::uint32_t groups,
                      std::uint32_t most);

// A layer has one load, as all ranks of a group send alike, in all micro-batches and steps: which experts are
// popular is a property of the layer, and changes slowly.
struct ExpertLoad {
  std::vector<std::uint64_t> copies;  // from each rank of the group to each one, its own among them
  std::vector<ExpertTimes> times;     // of each rank of the group with what it gets
};
// Returns one for each layer; none if all experts get as many tokens, or if one rank has them all.
std::vector<ExpertLoad> expert_loads(const Training& training);

}  // namespace weft::goal::llm
