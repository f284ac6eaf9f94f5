// How long a rank computes for each part of a model, forward and backward.
#pragma once

#include "goal/workload/llm/training.h"

namespace weft::goal::llm {

// In nanoseconds. Of a block with two layers of tensor parallelism: the column-parallel `in`, what is
// between, and the row-parallel `out`. Backward is in two parts, by the inputs and by the weights, as the
// first is sent on while the second is computed, or while others are.
struct BlockTimes {
  double before = 0;                 // norm and residual
  double in = 0, core = 0, out = 0;  // core of attention: one of the steps of a ring
  double core_backward = 0, out_by_inputs = 0, out_by_weights = 0, in_by_inputs = 0, in_by_weights = 0;
  double before_backward = 0;
  // With PyTorch's selective recomputation, backward begins with it: every other product, and what is
  // between, but not attention's core.
  double again = 0;
};

// Says how long the experts of a rank take together.
struct ExpertTimes {
  double forward = 0, by_inputs = 0, by_weights = 0;
};

struct Times {
  BlockTimes attention, mlp, shared, head;  // mlp: of a layer without experts; shared: of the shared experts
  double router = 0, router_by_inputs = 0, router_by_weights = 0;
  ExpertTimes experts;   // where each rank's get as many tokens as any other's
  double embedding = 0;  // in either direction
  double loss = 0;
};

Times times_of(const Training& training);
// With so many tokens for a rank's experts, evenly divided among them.
ExpertTimes expert_times(const Training& training, std::uint64_t tokens);
// Returns the time for the weights that a rank of the stage has.
double optimizer_ns(const Training& training, std::uint32_t stage);

}  // namespace weft::goal::llm
