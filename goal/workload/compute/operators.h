// Bytes that operators without much arithmetic move through HBM, for Device::memory_ns. Each is one fused
// kernel that reads its inputs once and writes its outputs once; activations have `element` bytes (2 for
// bf16).
#pragma once

namespace weft::goal {

// y = norm(x), and in training its backward: reads x and dy, writes dx.
inline double norm_bytes(double tokens, double hidden, double element = 2) {
  return 2 * tokens * hidden * element;
}
inline double norm_backward_bytes(double tokens, double hidden, double element = 2) {
  return 3 * tokens * hidden * element;
}

// y = x + r; backward passes the gradient on and moves nothing.
inline double residual_bytes(double tokens, double hidden, double element = 2) {
  return 3 * tokens * hidden * element;
}

// y = f(x) over `width` elements a token, or f(gate)·x if gated (2 · width read, width written).
inline double activation_bytes(double tokens, double width, bool gated, double element = 2) {
  return (gated ? 3 : 2) * tokens * width * element;
}
// Reads dy and all inputs, writes a gradient for each.
inline double activation_backward_bytes(double tokens, double width, bool gated, double element = 2) {
  return (gated ? 5 : 3) * tokens * width * element;
}

// Adam in mixed precision, a parameter: gradient, weight and both moments read in fp32 (16 bytes), the last
// three written (12), and the bf16 weight (2).
inline double adam_bytes(double parameters) { return 30 * parameters; }

}  // namespace weft::goal
