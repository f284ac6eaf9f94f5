// What operators without much arithmetic move through memory, by whose kernels they are.
#pragma once

#include "goal/workload/llm/training.h"

namespace weft::goal::llm {

// Bytes for each value of an activation, unless it says otherwise.
struct Passes {
  double norm = 0, norm_backward = 0;
  double rotary = 0;                               // of queries and keys, in either direction
  double repeat = 0;                               // of the queries' width, in either direction
  double activation = 0, activation_backward = 0;  // between an MLP's projections, of its width
  double sum = 0;   // gradients of an input that several products have, for each further product
  double cast = 0;  // in 8-bit training, to 8 bits
  double loss = 0;  // of logits, in both directions
};
Passes passes_of(const Training& training);

}  // namespace weft::goal::llm
