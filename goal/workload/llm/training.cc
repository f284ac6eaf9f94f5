#include "goal/workload/llm/training.h"

#include <algorithm>

namespace weft::goal::llm {
namespace {

RankWeights on_rank(const Training& training, const Weights& weights) {
  return {weights.split / training.layout.tensor + weights.whole, 0};
}

double sharded_over(const Training& training, Axis axis, bool sharded) {
  return sharded ? training.layout.size(axis) : 1;
}

// Bytes of something that each of the rank's parameters has so many of.
double bytes_of(const Training& training, const RankWeights& weights, double each, bool sharded) {
  return each * (static_cast<double>(weights.dense) / sharded_over(training, Axis::kData, sharded) +
                 static_cast<double>(weights.experts) / sharded_over(training, Axis::kExpertData, sharded));
}

RankWeights chunk_weights(const Training& training, const Chunk& chunk) {
  RankWeights sum;
  if (chunk.embedding) sum += embedding_weights(training);
  for (std::uint32_t i = 0; i < chunk.layers; ++i) {
    sum += attention_weights(training);
    sum += mlp_weights(training, chunk.first + i);
  }
  if (chunk.head) sum += head_weights(training);
  return sum;
}

// What is kept of a layer from forward to backward.
double kept_of_layer(const Training& training, std::uint32_t layer) {
  const bool scores =
      training.attention == AttentionKernel::kUnfused && training.recompute == Recompute::kNone;
  if (training.recompute != Recompute::kFull) return layer_activations(training, layer, scores);
  return static_cast<double>(training.value_bytes() * training.own_tokens()) * training.model.hidden;
}

// What is kept of the ends of the model: the mask of the embedding's dropout, and the inputs of the last norm
// and of the head with the logits, which the loss has in 4 bytes.
struct KeptOfEnds {
  double embedding = 0, head = 0;
};
KeptOfEnds kept_of_ends(const Training& training, const Chunk& chunk) {
  const ModelShape& model = training.model;
  KeptOfEnds kept;
  if (model.vocab == 0) return kept;
  const double inputs = static_cast<double>(training.own_tokens()) * model.hidden;
  if (chunk.embedding && model.dropout) kept.embedding = inputs;
  if (chunk.head) {
    const double logits = 4.0 * static_cast<double>(training.tokens()) * model.vocab / training.layout.tensor;
    kept.head = 2 * training.value_bytes() * inputs + logits;
  }
  return kept;
}

// The most that is kept at a time. The logits go when backward of the head is through, before a layer is
// computed anew.
double activations(const Training& training, std::uint32_t stage) {
  std::vector<double> kept;  // of a chunk's micro-batch, without the head
  std::vector<double> heads;
  double largest = 0;
  for (std::uint32_t v = 0; v < training.schedule.chunks; ++v) {
    const Chunk chunk = stage_chunk(training, stage, v);
    const KeptOfEnds ends = kept_of_ends(training, chunk);
    kept.push_back(ends.embedding);
    heads.push_back(ends.head);
    for (std::uint32_t i = 0; i < chunk.layers; ++i) {
      kept.back() += kept_of_layer(training, chunk.first + i);
      largest = std::max(largest, layer_activations(training, chunk.first + i));
    }
  }
  const double anew = training.recompute == Recompute::kFull ? largest : 0;
  double now = 0, logits = 0, most = 0;
  for (const Action& action : actions_of(training.schedule, stage)) {
    const double of_head = heads[action.chunk];
    if (action.work == Work::kForward) {
      now += kept[action.chunk];
      logits += of_head;
      most = std::max(most, now + logits);
    } else {
      if (action.work == Work::kBackward) logits -= of_head;
      most = std::max(most, now + logits + anew);
      if (action.work == Work::kWeights) logits -= of_head;
      if (action.work != Work::kInputs) now -= kept[action.chunk];
    }
  }
  return most;
}

}  // namespace

Chunk chunk_of(const ModelShape& model, std::uint32_t chunks, std::uint32_t n) {
  const bool even = model.layers % chunks == 0 || model.vocab == 0;
  const std::uint32_t extra = even ? 0 : 1;  // the embedding's place, and the head's
  const std::uint32_t places = model.layers + 2 * extra;
  const std::uint32_t least = places / chunks, more = places % chunks;
  // Without those two, the first chunks are the larger ones.
  const auto begin = [&](std::uint32_t i) { return i * least + std::min(i, more); };
  const std::uint32_t first = n == 0 ? extra : begin(n),
                      end = n + 1 == chunks ? places - extra : begin(n + 1);
  return {first - extra, end > first ? end - first : 0, n == 0, n + 1 == chunks};
}

Chunk stage_chunk(const Training& training, std::uint32_t stage, std::uint32_t chunk) {
  const Schedule& schedule = training.schedule;
  return chunk_of(training.model, schedule.parts(), schedule.number(stage, chunk));
}

RankWeights attention_weights(const Training& training) {
  return on_rank(training, attention_parameters(training.model));
}

RankWeights mlp_weights(const Training& training, std::uint32_t layer) {
  const bool experts = training.model.has_experts(layer);
  RankWeights weights = on_rank(training, mlp_parameters(training.model, experts));
  if (experts) weights.experts = expert_parameters(training.model) / training.layout.expert;
  return weights;
}

RankWeights embedding_weights(const Training& training) {
  return on_rank(training, embedding_parameters(training.model));
}

RankWeights head_weights(const Training& training) {
  RankWeights weights = on_rank(training, head_parameters(training.model));
  // A copy of the table that the first stage has.
  if (training.model.tied && training.schedule.ends_apart()) {
    weights.dense += embedding_parameters(training.model).split / training.layout.tensor;
  }
  return weights;
}

RankWeights stage_weights(const Training& training, std::uint32_t stage) {
  RankWeights sum;
  for (std::uint32_t v = 0; v < training.schedule.chunks; ++v)
    sum += chunk_weights(training, stage_chunk(training, stage, v));
  return sum;
}

double layer_activations(const Training& training, std::uint32_t layer, bool scores) {
  const ModelShape& model = training.model;
  const double tokens = static_cast<double>(training.tokens()), tensor = training.layout.tensor;
  const double h = model.hidden, outside = training.sequence_parallel ? tensor : 1;
  const double each = training.value_bytes();
  // Inputs of the two norms, of attention's and the MLP's first projections; masks of two dropouts, of 1
  // byte.
  double bytes = tokens * h * (4 * each + (model.dropout ? 2 : 0)) / outside;
  const double keys =
      model.latent() ? model.heads * (model.head_dim + model.value_dims()) : 2.0 * model.kv_width();
  bytes += each * tokens * (static_cast<double>(model.query_width()) + keys + model.output_width()) / tensor;
  const double ffn = model.has_experts(layer)
                         ? static_cast<double>(model.expert_ffn) * (model.top_k + model.shared_experts)
                         : model.ffn;
  bytes += each * tokens * ffn * (model.gated ? 3 : 2) / tensor;
  if (model.has_experts(layer)) bytes += each * tokens * h * model.top_k / outside;
  // Softmax, its dropout's mask, and what comes out of that.
  const double of_score = 2 * each + 1;
  if (scores) bytes += of_score * tokens * training.sequence / training.layout.context * model.heads / tensor;
  return bytes;
}

DeviceMemory device_memory(const Training& training, std::uint32_t stage) {
  const RankWeights weights = stage_weights(training, stage);
  const bool fsdp = training.sharding == Sharding::kFsdp;
  DeviceMemory memory;
  const double each = training.value_bytes();
  const bool parts = fsdp && !training.keeps_weights();
  memory.weights = bytes_of(training, weights, each, parts);
  const bool gradient_parts = parts || training.sharding == Sharding::kZero2;
  memory.gradients = bytes_of(training, weights, training.gradient_bytes, gradient_parts);
  // Two moments in 4 bytes, and the weights if they aren't in as many themselves.
  const double moments = training.precision == Precision::kFp32 ? 8 : 12;
  memory.optimizer = bytes_of(training, weights, moments, training.sharding != Sharding::kNone);
  if (parts) {
    // The layer at work and the one after it are whole.
    RankWeights layer = attention_weights(training);
    layer += mlp_weights(training, training.model.layers - 1);
    memory.weights += 2 * bytes_of(training, layer, each, false);
  }
  memory.activations = activations(training, stage);
  return memory;
}

double step_flops(const Training& training) {
  return 3 * forward_flops(training.model, static_cast<double>(training.global_batch()), training.sequence);
}

}  // namespace weft::goal::llm
