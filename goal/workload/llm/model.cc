#include "goal/workload/llm/model.h"

namespace weft::goal::llm {
namespace {

Weights of_linear(const Linear& linear) {
  const std::uint64_t size = linear.in * linear.out;
  return linear.whole ? Weights{0, size} : Weights{size, 0};
}

Weights operator+(const Weights& a, const Weights& b) { return {a.split + b.split, a.whole + b.whole}; }

// Scale, and shift with biases.
std::uint64_t norm(const ModelShape& model) { return std::uint64_t{model.hidden} * (model.biases ? 2 : 1); }

// The output of a row-parallel layer is summed up before the bias is added.
Weights biases(const ModelShape& model, std::uint64_t columns) {
  return model.biases ? Weights{columns, model.hidden} : Weights{};
}

std::uint64_t mlp_size(const ModelShape& model, std::uint64_t ffn) {
  return of_linear(mlp_input(model, ffn)).all() + of_linear(mlp_output(model, ffn)).all();
}

// FLOPs of one layer for a token, without attention's scores.
double linear_flops(const ModelShape& model, bool experts) {
  std::uint64_t size = of_linear(attention_output(model)).all();
  for (const Linear& linear : attention_inputs(model)) size += of_linear(linear).all();
  if (experts) {
    size += std::uint64_t{model.hidden} * model.experts;
    size += mlp_size(model, std::uint64_t{model.expert_ffn} * (model.top_k + model.shared_experts));
  } else {
    size += mlp_size(model, model.ffn);
  }
  return 2 * static_cast<double>(size);
}

// All parameters, with so many experts in each layer that has some.
std::uint64_t with_experts(const ModelShape& model, std::uint32_t experts) {
  std::uint64_t sum = embedding_parameters(model).all() + head_parameters(model).all();
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    const bool has_some = model.has_experts(layer);
    sum += attention_parameters(model).all() + mlp_parameters(model, has_some).all();
    if (has_some) sum += experts * mlp_size(model, model.expert_ffn);
  }
  return sum;
}

}  // namespace

std::vector<Linear> attention_inputs(const ModelShape& model) {
  const std::uint64_t hidden = model.hidden, heads = model.heads;
  if (!model.latent()) return {{model.query_width() + 2 * model.kv_width(), hidden}};
  std::vector<Linear> linears;
  if (model.q_lora != 0) linears.push_back({model.q_lora, hidden, true});
  linears.push_back({model.query_width(), model.q_lora != 0 ? model.q_lora : hidden});
  linears.push_back({std::uint64_t{model.kv_lora} + model.rope_dim, hidden, true});
  const std::uint64_t keys = model.head_dim - model.rope_dim;
  linears.push_back({heads * (keys + model.value_dims()), model.kv_lora});
  return linears;
}

Linear attention_output(const ModelShape& model) { return {model.hidden, model.output_width()}; }

Linear mlp_input(const ModelShape& model, std::uint64_t ffn) {
  return {model.gated ? 2 * ffn : ffn, model.hidden};
}

Linear mlp_output(const ModelShape& model, std::uint64_t ffn) { return {model.hidden, ffn}; }

Weights attention_parameters(const ModelShape& model) {
  Weights sum = of_linear(attention_output(model));
  std::uint64_t columns = 0;
  for (const Linear& linear : attention_inputs(model)) {
    sum = sum + of_linear(linear);
    columns += linear.out;
  }
  // The narrow vectors of latent attention have norms, too.
  return sum + biases(model, columns) + Weights{0, norm(model) + std::uint64_t{model.q_lora} + model.kv_lora};
}

Weights mlp_parameters(const ModelShape& model, bool experts) {
  if (experts) {
    const std::uint64_t shared = std::uint64_t{model.shared_experts} * model.expert_ffn;
    return {mlp_size(model, shared), norm(model) + std::uint64_t{model.hidden} * model.experts};
  }
  return Weights{mlp_size(model, model.ffn), norm(model)} + biases(model, mlp_input(model, model.ffn).out);
}

std::uint64_t expert_parameters(const ModelShape& model) {
  return model.experts * mlp_size(model, model.expert_ffn);
}

Weights embedding_parameters(const ModelShape& model) {
  return {std::uint64_t{model.vocab} * model.hidden, std::uint64_t{model.positions} * model.hidden};
}

Weights head_parameters(const ModelShape& model) {
  return {model.tied ? 0 : std::uint64_t{model.vocab} * model.hidden, model.vocab == 0 ? 0 : norm(model)};
}

std::uint64_t parameters(const ModelShape& model) { return with_experts(model, model.experts); }
std::uint64_t active_parameters(const ModelShape& model) { return with_experts(model, model.top_k); }

double forward_flops(const ModelShape& model, double sequences, std::uint32_t sequence, bool causal) {
  const double pairs = static_cast<double>(sequence) * sequence * (causal ? 0.5 : 1);
  const double scores = 2 * pairs * static_cast<double>(model.query_width() + model.output_width());
  double of_sequence = 2.0 * sequence * model.hidden * model.vocab;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    of_sequence += sequence * linear_flops(model, model.has_experts(layer)) + scores;
  }
  return sequences * of_sequence;
}

}  // namespace weft::goal::llm
