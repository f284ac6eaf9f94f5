#include "goal/workload/llm/times.h"

#include <algorithm>

namespace weft::goal::llm {
namespace {

// Products and passes through memory on the training's device.
class Clock {
 public:
  explicit Clock(const Training& training) : training_(training), device_(*training.device) {}

  double forward(std::uint64_t tokens, const Linear& layer) const {
    return product(tokens, columns(layer), rows(layer));
  }
  double by_inputs(std::uint64_t tokens, const Linear& layer) const {
    return product(tokens, rows(layer), columns(layer));
  }
  double by_weights(std::uint64_t tokens, const Linear& layer) const {
    return product(columns(layer), rows(layer), tokens);
  }
  double product(std::uint64_t m, std::uint64_t n, std::uint64_t k, std::uint64_t groups = 1) const {
    if (m == 0 || n == 0 || k == 0) return 0;
    return scaled(device_.gemm_ns({m, n, k, groups, training_.precision}));
  }
  // In bf16 whatever the products are in.
  double memory(double values) const { return scaled(device_.memory_ns(2 * values)); }
  double attention(const Attention& attention) const { return scaled(device_.attention_ns(attention)); }
  double bytes(double bytes) const { return scaled(device_.memory_ns(bytes)); }

  // A row-parallel layer is divided along its inputs, which `row` says of the layers it is given.
  bool row = false;

 private:
  std::uint64_t part(std::uint64_t size) const {
    return std::max<std::uint64_t>(size / training_.layout.tensor, 1);
  }
  std::uint64_t columns(const Linear& layer) const {
    return row || layer.whole ? layer.out : part(layer.out);
  }
  std::uint64_t rows(const Linear& layer) const { return row && !layer.whole ? part(layer.in) : layer.in; }
  double scaled(double ns) const { return ns / training_.efficiency; }

  const Training& training_;
  const Device& device_;
};

Clock row_parallel(const Training& training) {
  Clock clock(training);
  clock.row = true;
  return clock;
}

// Norm and residual: what is read and written of a block's tokens.
double around(const Training& training) {
  return Clock(training).memory(4.0 * static_cast<double>(training.own_tokens()) * training.model.hidden);
}

BlockTimes block(const Training& training, const std::vector<Linear>& inputs, const Linear& output) {
  const Clock column(training), row = row_parallel(training);
  const std::uint64_t tokens = training.tokens();
  BlockTimes times;
  for (const Linear& layer : inputs) {
    times.in += column.forward(tokens, layer);
    times.in_by_inputs += column.by_inputs(tokens, layer);
    times.in_by_weights += column.by_weights(tokens, layer);
  }
  times.before = around(training);
  times.before_backward = 1.5 * around(training);
  times.out = row.forward(tokens, output);
  times.out_backward = row.by_inputs(tokens, output) + row.by_weights(tokens, output);
  return times;
}

BlockTimes attention(const Training& training) {
  const ModelShape& model = training.model;
  const std::uint32_t tensor = training.layout.tensor, context = training.layout.context;
  BlockTimes times = block(training, attention_inputs(model), attention_output(model));
  Attention core;
  core.batch = training.micro_batch;
  core.heads = std::max(model.heads / tensor, 1u);
  core.kv_heads = std::max(model.kv_heads / tensor, 1u);
  core.queries = training.sequence / context;
  // Ranks have parts of the sequence that are equal in work: an early one and a late one (zigzag).
  const bool ring = training.context_exchange == ContextExchange::kRing;
  core.keys = ring ? core.queries : training.sequence;
  core.pairs = 0.5 * training.sequence * training.sequence / context / (ring ? context : 1);
  core.head_dim = (std::uint64_t{model.head_dim} + model.value_dims()) / 2;
  times.core = Clock(training).attention(core);
  core.backward = true;
  times.core_backward = Clock(training).attention(core);
  return times;
}

BlockTimes mlp(const Training& training, std::uint64_t ffn) {
  if (ffn == 0) return {};
  const Clock clock(training);
  BlockTimes times = block(training, {mlp_input(training.model, ffn)}, mlp_output(training.model, ffn));
  const double values =
      static_cast<double>(training.tokens()) * static_cast<double>(ffn) / training.layout.tensor;
  const double projections = training.model.gated ? 2 : 1;
  times.core = clock.memory(values * (projections + 1));
  times.core_backward = clock.memory(values * (2 * projections + 1));
  return times;
}

// Each rank's experts get as many tokens as any other's.
void add_experts(const Training& training, Times& times) {
  const ModelShape& model = training.model;
  if (model.experts == 0) return;
  const Clock clock(training);
  const std::uint64_t tokens = training.own_tokens(), groups = model.experts / training.layout.expert;
  const std::uint64_t each =
      std::max<std::uint64_t>(tokens * model.top_k * training.layout.expert / model.experts, 1);
  const Linear in = mlp_input(model, model.expert_ffn), out = mlp_output(model, model.expert_ffn);
  const double values = static_cast<double>(tokens) * model.top_k;
  times.router = clock.product(tokens, model.experts, model.hidden) + around(training);
  times.router_backward = clock.product(tokens, model.hidden, model.experts) +
                          clock.product(model.experts, model.hidden, tokens) + around(training);
  times.experts =
      clock.product(each, in.out, in.in, groups) + clock.product(each, out.out, out.in, groups) +
      clock.memory(values * static_cast<double>(in.out + model.expert_ffn) + 4 * values * model.hidden);
  times.experts_backward =
      clock.product(each, in.in, in.out, groups) + clock.product(in.out, in.in, each, groups) +
      clock.product(each, out.in, out.out, groups) + clock.product(out.out, out.in, each, groups) +
      clock.memory(values * static_cast<double>(2 * in.out + model.expert_ffn) + 4 * values * model.hidden);
}

void add_ends(const Training& training, Times& times) {
  const ModelShape& model = training.model;
  if (model.vocab == 0) return;
  const Clock clock(training);
  const double tokens = static_cast<double>(training.tokens());
  times.embedding = clock.memory(2 * tokens * model.hidden / training.layout.tensor);
  times.head = block(training, {{model.vocab, model.hidden}}, {});
  // The loss reads and writes the logits in 4 bytes.
  times.loss = clock.bytes(8 * tokens * model.vocab / training.layout.tensor);
}

}  // namespace

Times times_of(const Training& training) {
  const ModelShape& model = training.model;
  Times times;
  times.attention = attention(training);
  times.mlp = mlp(training, model.ffn);
  if (model.experts != 0)
    times.shared = mlp(training, std::uint64_t{model.shared_experts} * model.expert_ffn);
  add_experts(training, times);
  add_ends(training, times);
  return times;
}

double optimizer_ns(const Training& training, std::uint32_t stage) {
  // Adam reads gradient, master copy and two moments, and writes all but the first, and the weight.
  constexpr double kBytes = 4 * 4 + 3 * 4 + 2;
  const RankWeights weights = stage_weights(training, stage);
  double all = static_cast<double>(weights.dense), experts = static_cast<double>(weights.experts);
  if (training.sharding != Sharding::kNone) {
    all /= training.layout.size(Axis::kData);
    experts /= training.layout.size(Axis::kExpertData);
  }
  return training.device->memory_ns(kBytes * (all + experts)) / training.efficiency;
}

}  // namespace weft::goal::llm
