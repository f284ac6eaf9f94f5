// Shapes of language models, and what follows from them: parameters and FLOPs.
//
// Sources: NVIDIA Megatron-LM, training.py, num_floating_point_operations; D. Narayanan et al., SC 2021, for
// the closed forms; DeepSeek-V2, 2024, for latent attention.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::goal::llm {

// A transformer that only decodes. Sizes are those of the whole model.
struct ModelShape {
  std::string name;
  std::uint32_t layers = 0, hidden = 0, ffn = 0, heads = 0, kv_heads = 0;
  std::uint32_t head_dim = 0;   // of queries and keys
  std::uint32_t vocab = 0;      // 0: neither embedding nor head
  std::uint32_t sequence = 0;   // that it was trained with
  std::uint32_t positions = 0;  // whose embedding is learned; 0: none
  bool gated = true;            // MLPs of three projections, not two
  bool biases = false;          // of projections and norms
  bool dropout = false;
  bool triton = false;  // its published steps had FlashAttention in Triton
  bool sinks = false;   // of attention, learned; no time is known of what they add
  bool tied = false;    // the head's weights are the embedding's

  // Layers from `dense_layers` on have experts, unless `experts` is 0. Shared ones see all tokens.
  std::uint32_t experts = 0, top_k = 0, expert_ffn = 0, shared_experts = 0, dense_layers = 0;
  // A token takes experts of `top_groups` of so many groups of neighbors; 0: of any.
  std::uint32_t expert_groups = 0, top_groups = 0;

  // Latent attention: queries, and keys with values, pass through vectors of so many dimensions; 0: ordinary
  // attention (of queries: they don't).
  std::uint32_t q_lora = 0, kv_lora = 0;
  std::uint32_t rope_dim = 0;   // of head_dim, which all heads share in keys
  std::uint32_t value_dim = 0;  // 0: head_dim

  // What was guessed, and what was not read, where a file gave the shape.
  std::vector<std::string> remarks = {};

  bool latent() const { return kv_lora != 0; }
  bool has_experts(std::uint32_t layer) const { return experts != 0 && layer >= dense_layers; }
  std::uint32_t value_dims() const { return value_dim != 0 ? value_dim : head_dim; }
  std::uint64_t query_width() const { return std::uint64_t{heads} * head_dim; }
  std::uint64_t kv_width() const { return std::uint64_t{kv_heads} * head_dim; }
  std::uint64_t output_width() const { return std::uint64_t{heads} * value_dims(); }
};

// A projection. Tensor parallelism divides it unless it is `whole`.
struct Linear {
  std::uint64_t out = 0, in = 0;
  bool whole = false;
};
// Column-parallel ones of a block, and the row-parallel one behind them.
std::vector<Linear> attention_inputs(const ModelShape& model);
Linear attention_output(const ModelShape& model);
Linear mlp_input(const ModelShape& model, std::uint64_t ffn);
Linear mlp_output(const ModelShape& model, std::uint64_t ffn);

// Parameters that tensor parallelism divides, and those that each of its ranks has.
struct Weights {
  std::uint64_t split = 0, whole = 0;
  std::uint64_t all() const { return split + whole; }
};
// These count the parameters of one layer, with the norm before each block. `experts`: the layer has some, of
// which the router and the shared ones are counted here.
Weights attention_parameters(const ModelShape& model);
Weights mlp_parameters(const ModelShape& model, bool experts);
// Counts the parameters of all experts of a layer but the shared ones.
std::uint64_t expert_parameters(const ModelShape& model);
Weights embedding_parameters(const ModelShape& model);
// With the last norm. A tied head has no weights of its own.
Weights head_parameters(const ModelShape& model);
std::uint64_t parameters(const ModelShape& model);
// Counts all parameters, but of the experts only those that a token passes through.
std::uint64_t active_parameters(const ModelShape& model);

// FLOPs forward of so many sequences. Training takes three times as many, four with full recomputation.
// `causal`: half of the pairs of attention are computed; Narayanan's closed form counts all.
double forward_flops(const ModelShape& model, double sequences, std::uint32_t sequence, bool causal = true);

// All that are known by name.
std::span<const ModelShape> models();
// By name ('.', '-' and capitals as well, and as on Hugging Face: meta-llama/Llama-3.1-8B-Instruct is
// llama3_8b), or from the config.json at that path. Throws InputError.
ModelShape find_model(const std::string& name);

}  // namespace weft::goal::llm
