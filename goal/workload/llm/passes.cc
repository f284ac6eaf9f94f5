#include "goal/workload/llm/passes.h"

#include "goal/workload/compute/operators.h"

namespace weft::goal::llm {
namespace {

constexpr double kSingle = 4;  // bytes of a value in fp32

// To fp32 and back.
double converted(double each) { return each < kSingle ? 2 * (each + kSingle) : 0; }

// torch.nn.RMSNorm in operators of their own, in fp32: square, mean, product with the root, product with the
// weights. Backward: the gradients of these from the last to the first, and the sum of both ways to the
// input.
void separate_norm(double each, Passes& passes) {
  const double power = 2 * kSingle, mean = kSingle, product = 2 * kSingle;
  passes.norm = converted(each) + power + mean + product + 2 * each;
  const double weights = 6 * each, root = 6 * kSingle, squares = 8 * kSingle, sum = 3 * kSingle;
  passes.norm_backward = converted(each) + weights + root + squares + sum;
}

// torchtitan turns queries and keys as complex numbers in fp32, which torch.compile leaves as they are.
double separate_rotary(double each) { return converted(each) + 2 * kSingle; }

void separate_activation(double each, Passes& passes) {
  passes.activation = 5 * each;           // silu, product
  passes.activation_backward = 9 * each;  // of the product twice, of silu
}

}  // namespace

Passes passes_of(const Training& training) {
  const ModelShape& model = training.model;
  const double each = training.value_bytes();
  Passes passes;
  passes.norm = norm_bytes(1, 1, each);
  passes.norm_backward = norm_backward_bytes(1, 1, each);
  passes.activation = activation_bytes(1, 1, model.gated, each);
  passes.activation_backward = activation_backward_bytes(1, 1, model.gated, each);
  // Values of 2 bytes are read and written as 1 byte, and once more transposed, for the product by weights
  // (P. Micikevicius et al., FP8 Formats, 2022; NVIDIA's Transformer Engine on Hopper).
  passes.cast = 4;
  passes.loss = 2 * kSingle;
  if (!training.pytorch()) return passes;
  passes.cast += 2;  // the largest value is looked for first (torchao's dynamic scales)
  // Models with gates are Llama's kind: norms without means, and rotary positions.
  if (model.gated && !model.latent()) passes.rotary = separate_rotary(each);
  if (training.repeats_keys()) passes.repeat = 2 * each;
  if (training.stack == Stack::kTorchCompile) return passes;
  if (model.gated) {
    separate_norm(each, passes);
    separate_activation(each, passes);
  }
  passes.sum = 3 * each;
  // To fp32, logarithm of softmax; backward a gradient that is 0 but for one word, softmax's, and back.
  passes.loss = converted(each) + 2 * kSingle + kSingle + 3 * kSingle;
  return passes;
}

}  // namespace weft::goal::llm
