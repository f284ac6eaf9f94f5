#include <fmt/core.h>

#include "goal/workload/compute/device.h"

namespace weft::goal {
namespace {

// Weights of 8192 x 8192 read once, and used for more and more tokens.
std::string gemm_lines(const Device& device) {
  constexpr std::uint64_t kSide = 8192;
  std::string text = "\n  bf16, tokens x 8192 by 8192 x 8192:\n    tokens       us  TFLOP/s\n";
  for (const std::uint64_t tokens : {1, 64, 256, 1024, 4096, 16384}) {
    const double ns = device.gemm_ns({tokens, kSide, kSide});
    const double flops = 2.0 * static_cast<double>(tokens * kSide * kSide);
    text += fmt::format("    {:>6}  {:>7.1f}  {:>7.1f}\n", tokens, ns / 1e3, flops / ns / 1e3);
  }
  return text;
}

std::string efficiency(const Device& device) {
  const DeviceSpec& spec = device.spec();
  if (device.is_measured())
    return "by the file's measurements; between them, and all of the above, as " + spec.fitted_to;
  if (spec.fitted_to == spec.name) return "fitted to measurements of this device";
  return "of " + spec.fitted_to + "; not measured on this device";
}

}  // namespace

std::string device_details(const Device& device) {
  const DeviceSpec& spec = device.spec();
  std::string text = "\n  peak, dense ";
  for (std::size_t at = 0; at < spec.tflops.size(); ++at) {
    if (spec.tflops[at] > 0) text += fmt::format(" {} {:g}", kPrecisionNames[at], spec.tflops[at]);
  }
  text += fmt::format(" TFLOP/s, on {:g} cores\n", spec.cores);
  text += fmt::format("  memory       {:g} GB, {:g} GB/s, of which kernels reach {:.0f}\n", spec.hbm_gb,
                      spec.hbm_gb_s, spec.hbm_gb_s * spec.fit.memory_share);
  text += fmt::format("  launch       {:.2f} us; shortest multiplication {:.2f} us\n", spec.launch_us,
                      spec.fit.floor_us);
  text += fmt::format("  attention    {:g} of peak forward, {:g} backward\n", spec.attention_forward,
                      spec.attention_backward);
  if (spec.triton.forward > 0) {
    text += fmt::format("               {:g} and {:g} in Triton (2022), as llm-foundry's steps reach\n",
                        spec.triton.forward, spec.triton.backward);
  }
  if (spec.flash2.forward > 0 && spec.flash2.forward < spec.attention_forward) {
    text += fmt::format("               {:g} and {:g} with FlashAttention-2, as in PyTorch\n",
                        spec.flash2.forward, spec.flash2.backward);
  }
  text += "  efficiency   " + efficiency(device) + "\n";
  text += fmt::format("  steps        of training reach {:g} of all that, as published ones do{}\n",
                      spec.step_efficiency, spec.fitted_to == spec.name ? "" : " of " + spec.fitted_to);
  text +=
      fmt::format("               {:g} with PyTorch's own kernels (stack of llm)\n", spec.torch_efficiency);
  text += gemm_lines(device) + "\n  To be doubted:\n";
  for (const std::string& doubt : spec.doubts) text += fmt::format("  - {}\n", doubt);
  return text;
}

}  // namespace weft::goal
