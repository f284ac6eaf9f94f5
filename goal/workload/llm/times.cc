#include "goal/workload/llm/times.h"

#include <algorithm>
#include <cmath>

#include "goal/workload/compute/operators.h"
#include "goal/workload/llm/passes.h"

namespace weft::goal::llm {
namespace {

// Products and passes through memory on the training's device.
class Clock {
  const Training& training_;
  const Device& device_;

 public:
  explicit Clock(const Training& training) : training_(training), device_(*training.device) {}

  double forward(std::uint64_t tokens, const Linear& layer) const {
    return product(tokens, columns(layer), rows(layer));
  }
  double by_inputs(std::uint64_t tokens, const Linear& layer) const {
    return product(tokens, rows(layer), columns(layer));
  }
  double by_weights(std::uint64_t tokens, const Linear& layer) const {
    return accumulated(product(columns(layer), rows(layer), tokens),
                       static_cast<double>(columns(layer) * rows(layer)));
  }
  double product(std::uint64_t m, std::uint64_t n, std::uint64_t k, std::uint64_t groups = 1) const {
    if (m == 0 || n == 0 || k == 0) return 0;
    return scaled(device_.gemm_ns({m, n, k, groups, precision}));
  }
  double cast(double values) const {
    return precision == Precision::kFp8 && values > 0 ? bytes(passes.cast * values) : 0;
  }
  double cast_inputs(std::uint64_t tokens, const Linear& layer) const {
    return cast(static_cast<double>(tokens * rows(layer)));
  }
  double cast_outputs(std::uint64_t tokens, const Linear& layer) const {
    return cast(static_cast<double>(tokens * columns(layer)));
  }
  double memory(double values) const { return scaled(device_.memory_ns(training_.value_bytes() * values)); }
  double attention(const Attention& attention) const { return scaled(device_.attention_ns(attention)); }
  double bytes(double bytes) const { return scaled(device_.memory_ns(bytes)); }

  // A product of each group, whose gradients add up over micro-batches.
  double by_weights(std::uint64_t tokens, const Linear& layer, std::uint64_t groups) const {
    return accumulated(product(layer.out, layer.in, tokens, groups),
                       static_cast<double>(groups * layer.out * layer.in));
  }

  // A row-parallel layer is divided along its inputs, which `row` says of the layers it is given.
  bool row = false;
  Precision precision = training_.precision;
  const Passes passes = passes_of(training_);

 private:
  // With the gradients of micro-batches before. A product that adds to them reads and writes them while it
  // computes; a kernel of its own reads the product, too. FSDP adds up parts only, which is little, but where
  // it keeps whole gradients for all micro-batches.
  double accumulated(double product_ns, double weights) const {
    if (training_.sharding == Sharding::kFsdp && !training_.keeps_weights()) return product_ns;
    const double both = 2.0 * training_.gradient_bytes * weights;
    if (training_.accumulate_apart) return product_ns + bytes(both + training_.value_bytes() * weights);
    return std::pow(std::pow(product_ns, 4) + std::pow(bytes(both), 4), 0.25);
  }
  std::uint64_t part(std::uint64_t size) const {
    return std::max<std::uint64_t>(size / training_.layout.tensor, 1);
  }
  std::uint64_t columns(const Linear& layer) const {
    return row || layer.whole ? layer.out : part(layer.out);
  }
  std::uint64_t rows(const Linear& layer) const { return row && !layer.whole ? part(layer.in) : layer.in; }
  double scaled(double ns) const { return ns / training_.efficiency; }
};

Clock row_parallel(const Training& training) {
  Clock clock(training);
  clock.row = true;
  return clock;
}

// Norm, and the residual's sum with bias and dropout, which writes a mask of a byte.
double around(const Training& training) {
  const Clock clock(training);
  const double tokens = static_cast<double>(training.own_tokens()), hidden = training.model.hidden;
  const double mask = training.model.dropout ? tokens * hidden : 0, each = training.value_bytes();
  return clock.bytes(clock.passes.norm * tokens * hidden) +
         clock.bytes(residual_bytes(tokens, hidden, each) + mask);
}

// The norm's gradient and its sum with the residual's; then dropout's, and the bias's, a sum over tokens.
double around_backward(const Training& training) {
  const Clock clock(training);
  const double tokens = static_cast<double>(training.own_tokens()), hidden = training.model.hidden;
  const double each = training.value_bytes();
  const double masked = training.model.dropout ? clock.bytes((2 * each + 1) * tokens * hidden) : 0;
  const double bias = training.model.biases ? clock.memory(tokens * hidden) : 0;
  return clock.bytes(clock.passes.norm_backward * tokens * hidden) +
         clock.bytes(residual_bytes(tokens, hidden, each)) + masked + bias;
}

bool again(const Training& training) {
  return training.pytorch() && training.recompute == Recompute::kSelective;
}

BlockTimes block(const Training& training, const std::vector<Linear>& inputs, const Linear& output,
                 Precision precision) {
  Clock column(training), row = row_parallel(training);
  column.precision = row.precision = precision;
  const std::uint64_t tokens = training.tokens();
  BlockTimes times;
  for (const Linear& layer : inputs) {
    times.in += column.forward(tokens, layer);
    times.in_by_inputs += column.by_inputs(tokens, layer) + column.cast_outputs(tokens, layer);
    times.in_by_weights += column.by_weights(tokens, layer);
  }
  times.in += column.cast_inputs(tokens, inputs.front());
  times.before = around(training);
  times.before_backward = around_backward(training);
  times.out = row.forward(tokens, output) + row.cast_inputs(tokens, output);
  times.out_by_inputs = row.by_inputs(tokens, output) + row.cast_outputs(tokens, output);
  times.out_by_weights = row.by_weights(tokens, output);
  if (again(training)) times.again = times.before + (times.in + times.out) / 2;
  return times;
}

// Scores are products of every query with every key; softmax reads and writes them, dropout too and with a
// mask. Backward: of each product two, dropout's and softmax's gradient (which needs its result).
void add_unfused_core(const Training& training, BlockTimes& times) {
  const ModelShape& model = training.model;
  Clock clock(training);
  clock.precision = Precision::kBf16;
  const std::uint64_t problems = std::uint64_t{training.micro_batch} * model.heads / training.layout.tensor;
  const std::uint64_t tokens = training.sequence, keys = model.head_dim, values = model.value_dims();
  const double scores = static_cast<double>(problems * tokens * tokens);
  const double dropout = model.dropout ? clock.bytes((2.0 * training.value_bytes() + 1) * scores) : 0;
  const double by_keys = clock.product(tokens, tokens, keys, problems);
  const double by_values = clock.product(tokens, values, tokens, problems);
  times.core = by_keys + clock.memory(2 * scores) + dropout + by_values;
  times.core_backward = 2 * clock.product(tokens, keys, tokens, problems) + clock.memory(3 * scores) +
                        dropout + by_values + clock.product(tokens, tokens, values, problems);
}

void add_flash_core(const Training& training, BlockTimes& times) {
  const ModelShape& model = training.model;
  const std::uint32_t tensor = training.layout.tensor, context = training.layout.context;
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
  core.kernel = training.attention == AttentionKernel::kTriton   ? FlashKernel::kTriton
                : training.attention == AttentionKernel::kFlash2 ? FlashKernel::kTwo
                                                                 : FlashKernel::kFastest;
  times.core = Clock(training).attention(core);
  core.backward = true;
  times.core_backward = Clock(training).attention(core);
}

// Gradients of an input are added up where so many products, as in PyTorch's models, have it.
double sums(const Training& training, double products) {
  const Clock clock(training);
  const double values = static_cast<double>(training.tokens()) * training.model.hidden;
  return clock.bytes(clock.passes.sum * values * (products - 1));
}

BlockTimes attention(const Training& training) {
  const ModelShape& model = training.model;
  BlockTimes times = block(training, attention_inputs(model), attention_output(model), training.precision);
  const Clock clock(training);
  const double tokens = static_cast<double>(training.tokens()) / training.layout.tensor;
  const double queries = static_cast<double>(model.query_width()),
               keys = static_cast<double>(model.kv_width());
  const double positions =
      clock.bytes((clock.passes.rotary + clock.passes.repeat) * tokens * (queries + keys));
  times.before += positions;
  times.before_backward += positions + sums(training, 3);
  if (again(training)) times.again += positions;
  training.attention == AttentionKernel::kUnfused ? add_unfused_core(training, times)
                                                  : add_flash_core(training, times);
  return times;
}

BlockTimes mlp(const Training& training, std::uint64_t ffn) {
  if (ffn == 0) return {};
  const Clock clock(training);
  BlockTimes times =
      block(training, {mlp_input(training.model, ffn)}, mlp_output(training.model, ffn), training.precision);
  const double values =
      static_cast<double>(training.tokens()) * static_cast<double>(ffn) / training.layout.tensor;
  times.core = clock.bytes(clock.passes.activation * values);
  times.core_backward = clock.bytes(clock.passes.activation_backward * values);
  times.before_backward += sums(training, training.model.gated ? 2 : 1);
  if (again(training)) times.again += times.core;
  if (training.model.biases) times.core_backward += clock.memory(values);  // the bias's gradient, a sum
  return times;
}

void add_experts(const Training& training, Times& times) {
  const ModelShape& model = training.model;
  if (model.experts == 0) return;
  const Clock clock(training);
  const std::uint64_t tokens = training.own_tokens();
  times.router = clock.product(tokens, model.experts, model.hidden) + around(training);
  times.router_by_inputs = clock.product(tokens, model.hidden, model.experts) + around(training);
  times.router_by_weights = clock.product(model.experts, model.hidden, tokens);
  times.experts = expert_times(training, tokens * model.top_k);
}

void add_ends(const Training& training, Times& times) {
  const ModelShape& model = training.model;
  if (model.vocab == 0) return;
  const Clock clock(training);
  const double tokens = static_cast<double>(training.tokens());
  times.embedding = clock.memory(2 * tokens * model.hidden / training.layout.tensor);
  // In 8-bit training, too, the head's product is in 16.
  const Precision precision = training.precision == Precision::kFp8 ? Precision::kBf16 : training.precision;
  times.head = block(training, {{model.vocab, model.hidden}}, {}, precision);
  times.loss = clock.bytes(clock.passes.loss * tokens * model.vocab / training.layout.tensor);
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

ExpertTimes expert_times(const Training& training, std::uint64_t tokens) {
  if (tokens == 0) return {};
  const ModelShape& model = training.model;
  const Clock clock(training);
  const std::uint64_t groups = model.experts / training.layout.expert;
  const std::uint64_t each = std::max<std::uint64_t>(tokens / groups, 1);
  const Linear in = mlp_input(model, model.expert_ffn), out = mlp_output(model, model.expert_ffn);
  const auto values = static_cast<double>(tokens);
  // What other ranks sent is in 8 bits already, and is transposed.
  const double sent = training.layout.expert > 1 ? 0.5 : 1;
  ExpertTimes times;
  times.forward =
      clock.product(each, in.out, in.in, groups) + clock.product(each, out.out, out.in, groups) +
      clock.cast(values * (sent * static_cast<double>(in.in) + static_cast<double>(out.in))) +
      clock.memory(values * static_cast<double>(in.out + model.expert_ffn) + 4 * values * model.hidden);
  times.by_weights = clock.by_weights(each, in, groups) + clock.by_weights(each, out, groups);
  times.by_inputs =
      clock.product(each, in.in, in.out, groups) + clock.product(each, out.in, out.out, groups) +
      clock.cast(values * static_cast<double>(in.out + out.out)) +
      clock.memory(values * static_cast<double>(2 * in.out + model.expert_ffn) + 4 * values * model.hidden);
  return times;
}

double optimizer_ns(const Training& training, std::uint32_t stage) {
  // Beside Adam: the gradients' norm reads them, clipping reads and writes them.
  constexpr double kClipBytes = 4 + 2 * 4;
  const RankWeights weights = stage_weights(training, stage);
  double all = static_cast<double>(weights.dense), experts = static_cast<double>(weights.experts);
  const double whole = all + experts;
  if (training.sharding != Sharding::kNone) {
    all /= training.layout.size(Axis::kData);
    experts /= training.layout.size(Axis::kExpertData);
  }
  // All gradients are set to 0 for the next step, and in 8-bit training all weights cast.
  const bool shards = training.sharding == Sharding::kFsdp || training.sharding == Sharding::kZero2;
  const double each = training.gradient_bytes + (training.precision == Precision::kFp8 ? 4 : 0);
  const double bytes =
      adam_bytes(all + experts) + kClipBytes * (all + experts) + each * (shards ? all + experts : whole);
  return training.device->memory_ns(bytes) / training.efficiency;
}

}  // namespace weft::goal::llm
