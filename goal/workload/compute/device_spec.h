// What is known of devices: peaks, memory, and how near kernels come to them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "goal/workload/compute/gemm_model.h"

namespace weft::goal {

enum class Precision : std::uint8_t { kFp32, kBf16, kFp8, kFp4 };
inline constexpr std::array<std::string_view, 4> kPrecisionNames = {"fp32", "bf16", "fp8", "fp4"};

// Shares of peak that attention reaches; 0: not known.
struct AttentionShares {
  double forward = 0, backward = 0;
};

struct DeviceSpec {
  std::string name;
  std::string summary;                // one sentence
  std::string source;                 // of the peaks
  std::array<double, 4> tflops = {};  // dense peak by precision; 0: it has none
  double cores = 1;                   // that work on tiles of a matrix
  double hbm_gb = 0, hbm_gb_s = 0;    // 10^9 bytes, and a second
  double launch_us = 0;               // from one kernel's launch to the next
  double attention_forward = 0;       // share of peak, with 128 elements a head
  double attention_backward = 0;
  double step_efficiency = 1;   // what whole steps of training reach of their operators' times
  double torch_efficiency = 1;  // the same, with PyTorch's own kernels
  GemmFit fit = {};
  std::string fitted_to = {};            // the device whose measurements the fit is of
  std::vector<std::string> doubts = {};  // what is from memory, stands in, or is left out: sentences
  AttentionShares triton = {};           // FlashAttention of 2022 in Triton; smaller heads are as fast
  AttentionShares flash2 = {};           // FlashAttention-2, which may be the fastest
};

// A multiplication in this precision by the device's peaks, still without sizes. Throws InputError if it has
// none.
GemmProblem problem_of(const DeviceSpec& spec, Precision precision = Precision::kBf16);

// What is known of multiplications in this precision: the fit, which is of 16 bits, or what stands for it.
GemmFit fit_of(const DeviceSpec& spec, Precision precision);

// All built-in devices.
std::span<const DeviceSpec> device_specs();

}  // namespace weft::goal
