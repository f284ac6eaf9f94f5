// What is trained how: a model, a layout, and what the step computes and sends beside that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "goal/workload/compute/device.h"
#include "goal/workload/llm/layout.h"
#include "goal/workload/llm/model.h"
#include "goal/workload/llm/schedule.h"

namespace weft::goal::llm {

enum class Sharding : std::uint8_t {
  kNone,   // gradients are all-reduced
  kZero1,  // gradients are reduce-scattered, weights gathered: each rank has a part of the optimizer
  kZero2,  // and of the gradients, which are reduced behind each micro-batch
  kFsdp,   // weights are gathered layer by layer where they are used, too
};
enum class Recompute : std::uint8_t { kNone, kSelective, kFull };
enum class ContextExchange : std::uint8_t { kRing, kGather };
enum class AttentionKernel : std::uint8_t {
  kFlash,    // one fused kernel, which keeps no scores
  kFlash2,   // FlashAttention-2, where that isn't the fastest
  kTriton,   // that of 2022, in Triton: slower
  kUnfused,  // products, softmax and dropout apart, all pairs: as before T. Dao et al., FlashAttention, 2022
};

// Whose kernels compute.
enum class Stack : std::uint8_t {
  kTransformerEngine,  // NVIDIA's: Megatron-LM, NeMo
  kPyTorch,            // PyTorch's own, one operator after the other
  kTorchCompile,       // those, with what only moves memory fused by torch.compile
};

// Replicas (each of tp · pp ranks) that train on their own and are synchronized now and then.
//
// Sources: A. Douillard et al., DiLoCo, 2023; Streaming DiLoCo, 2025 (fragments, overlap).
struct OuterSteps {
  std::uint32_t inner_steps = 0;  // from one synchronization of a weight to the next; 0: gradients each step
  std::uint32_t fragments = 1;    // of the model, that are synchronized at different times
  std::uint32_t overlap = 0;      // steps that go on meanwhile
};

struct Training {
  ModelShape model;
  Layout layout;
  Schedule schedule;
  bool sequence_parallel = false;
  bool tensor_overlap = false;  // gathered and reduced piece by piece beside the block's products
  Sharding sharding = Sharding::kZero1;
  // Data parallelism beside computation: gradients beside the last backward pass, weights beside the first
  // forward pass.
  bool gradients_overlap = true, weights_overlap = true;
  Recompute recompute = Recompute::kNone;
  ContextExchange context_exchange = ContextExchange::kRing;
  Stack stack = Stack::kTransformerEngine;
  AttentionKernel attention = AttentionKernel::kFlash;
  bool accumulate_apart = false;  // gradients are added up by a kernel of its own, not by the product's
  Precision precision = Precision::kBf16;
  std::uint32_t sequence = 1, micro_batch = 1, iterations = 1;
  std::uint32_t gradient_bytes = 4;  // of each parameter, as they are reduced
  OuterSteps outer;
  // Where experts are on several nodes: how many of them a token goes to, on average, to each once; 0: each
  // of its copies goes on its own. A node's part is forwarded there in so many pieces.
  double token_nodes = 0;
  std::uint32_t expert_pieces = 1;
  double expert_skew = 0;  // Zipf's exponent of the experts' popularity; 0: all get as many tokens
  std::uint64_t seed = 1;  // of which experts those are
  const Device* device = nullptr;
  double efficiency = 1;
  double overlap_slowdown = 1;  // how many times as long computing takes beside collectives of the same rank

  // Tokens of a micro-batch that a rank has outside of tensor parallelism, and within sequence parallelism.
  std::uint64_t tokens() const { return std::uint64_t{micro_batch} * sequence / layout.context; }
  std::uint64_t own_tokens() const { return tokens() / (sequence_parallel ? layout.tensor : 1); }
  // Activations and weights have so many bytes each, kept and sent.
  std::uint32_t value_bytes() const { return precision == Precision::kFp32 ? 4 : 2; }
  // With several stages FSDP keeps weights from their first use in a step to its end, and adds up gradients
  // till then, as torchtitan and Llama 3 do: all micro-batches would gather the same weights.
  bool keeps_weights() const { return sharding == Sharding::kFsdp && layout.pipeline > 1; }
  // Weights are gathered at the beginning of a step.
  bool gathers_whole() const { return sharding == Sharding::kZero1 || sharding == Sharding::kZero2; }
  bool pytorch() const { return stack != Stack::kTransformerEngine; }
  // torchtitan repeats keys and values for all queries that share them, before cp exchanges them.
  bool repeats_keys() const {
    return pytorch() && model.gated && !model.latent() && model.kv_heads < model.heads;
  }
  std::uint64_t global_batch() const {
    return std::uint64_t{micro_batch} * schedule.micro_batches * layout.data;
  }
};

// A part of the model between which nothing of a pipeline stage is divided.
struct Chunk {
  std::uint32_t first = 0, layers = 0;
  bool embedding = false, head = false;
};
// Which layers chunk number n of all has. Even if that goes, else with the embedding and the head, if
// there are any, counted as a layer each, as Megatron-LM's --account-for-embedding-in-pipeline-split and
// --account-for-loss-in- pipeline-split do: the first or the last chunk may have these alone. REQUIRES:
// layers + 2 chunks at most, and layers without embedding and head.
Chunk chunk_of(const ModelShape& model, std::uint32_t chunks, std::uint32_t n);
// Tells which layers a chunk of a stage has, numbered as the schedule has them.
Chunk stage_chunk(const Training& training, std::uint32_t stage, std::uint32_t chunk);

// Parameters that a rank has of something.
struct RankWeights {
  std::uint64_t dense = 0, experts = 0;
  RankWeights& operator+=(const RankWeights& other) {
    dense += other.dense;
    experts += other.experts;
    return *this;
  }
};
RankWeights attention_weights(const Training& training);
RankWeights mlp_weights(const Training& training, std::uint32_t layer);
RankWeights embedding_weights(const Training& training);
RankWeights head_weights(const Training& training);
// Adds up all chunks of a stage.
RankWeights stage_weights(const Training& training, std::uint32_t stage);

// What a device has to hold, in bytes.
struct DeviceMemory {
  double weights = 0, gradients = 0, optimizer = 0, activations = 0;
  double all() const { return weights + gradients + optimizer + activations; }
};
// Counts what a rank of the stage holds. Activations are as in V. Korthikanti et al., 2022, the logits among
// them, without the scores of attention, which fused kernels don't keep.
DeviceMemory device_memory(const Training& training, std::uint32_t stage);
// Activations of one layer and micro-batch. `scores`: attention keeps them, and their dropout mask.
double layer_activations(const Training& training, std::uint32_t layer, bool scores = false);

// FLOPs of a step on all devices together, without what is computed twice.
double step_flops(const Training& training);

}  // namespace weft::goal::llm
