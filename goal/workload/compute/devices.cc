#include "goal/workload/compute/device_spec.h"

namespace weft::goal {
namespace {

// By fit_gemm (1,500 steps, seed 1) over all rows of tests/data/gemm/operators.csv.
constexpr GemmFit kA100Fit = {3.739,  0.8215, 59.05,
                              0.4747, 1.485,  {0.578, 0.599, 0.748, 0.728, 0.760, 0.489}};
// In 8 bits: the pair that is nearest to tests/data/gemm/fp8.csv (fp8_test.cc looks through a grid of them).
constexpr GemmFit kH100Fit = {3.719, 0.8905, 179.3, 0.6526, 1.194, {0.519, 0.634, 0.546, 0.629, 0.765, 0.597},
                              650,   0.96};
// A copy was measured to reach 3,451 of 4,023 GB/s; all else is the H100's.
constexpr GemmFit kGh200Fit = [] {
  GemmFit fit = kH100Fit;
  fit.memory_share = 0.858;
  return fit;
}();

// Large multiplications on MI300X were measured to reach 620 TFLOP/s in 16 and 990 in 8 bits, where an H100
// reached 720 and 1,280 (SemiAnalysis, December 2024, from memory): so much less of the peak.
constexpr GemmFit kMi300xFit = [] {
  constexpr double kShare = 620 / 1307.4 / (720 / 989.4), kNarrow = 990 / 2614.9 / (1280 / 1979.0);
  GemmFit fit = kH100Fit;
  for (double& share : fit.tile_share) share *= kShare;
  fit.narrow_share *= kNarrow / kShare;
  return fit;
}();

// What whole steps of training reach of the operators' times: published ones, compared by
// goal/workload/llm/published.py at the fewest GPUs of each curve.
constexpr double kA100Step = 0.96, kH100Step = 0.87;
// Likewise with PyTorch's own kernels: torchtitan's of 2024 (A100, H100) and 2025 (H200).
constexpr double kA100Torch = 0.96, kH100Torch = 0.74, kH200Torch = 0.87;

// FlashAttention-2 reaches a third of an H100's peak (J. Shah et al., FlashAttention-3, 2024), backward 1.7
// times less than the third does.
constexpr AttentionShares kA100Flash2 = {0.60, 0.52}, kH100Flash2 = {0.35, 0.28};
// As steps of llm-foundry (attn_impl: triton) grow with the sequence; see RESULTS.md.
constexpr AttentionShares kA100Triton = {0.54, 0.27}, kH100Triton = {0.28, 0.18};

constexpr const char* kAttention =
    "Attention's shares of peak are from memory of the FlashAttention papers' curves (causal, 4k to 16k "
    "tokens).";
constexpr const char* kFromMemory = "The peaks are from memory of the data sheet.";
constexpr const char* kScaled =
    "Not measured: efficiencies are h100's, so that times follow from this device's own peaks and cores.";
constexpr const char* kScaledA100 =
    "Not measured: efficiencies are a100's, so that times follow from this device's own peaks and cores.";
constexpr const char* kLaunch = "Launch time stands in: it is what was measured on gh200.";
constexpr const char* kCool =
    "Other measurements of large multiplications reach more of the peak (a100 302, gh200 882 TFLOP/s at "
    "8192x8192x8192, simllm): those fitted to run at 230 to 240 and at 670 to 730.";
constexpr const char* kFp4 = "How slowly tiles begin and end in fp4 is a guess: as in fp8.";
constexpr const char* kBlackwell =
    "Its kernels use pairs of cores and larger tiles; small multiplications are less sure than large ones.";
constexpr const char* kAttentionH100 =
    "Attention's shares of peak are h100's; measured ones of GB200 are within 16%, with 4,096 and 8,192 "
    "tokens.";

std::vector<DeviceSpec> all_devices() {
  return {
      {"a100",
       "NVIDIA A100 SXM, 80 GB.",
       "NVIDIA A100 data sheet; Vidur's profiles (Agrawal et al., MLSys 2024)",
       {19.5, 312, 0, 0},
       108,
       80,
       2039,
       1.81,
       0.60,
       0.52,
       kA100Step,
       kA100Torch,
       kA100Fit,
       "a100",
       {kCool, kAttention},
       kA100Triton,
       kA100Flash2},
      {"a100_40gb",
       "NVIDIA A100 SXM, 40 GB.",
       "NVIDIA A100 data sheet",
       {19.5, 312, 0, 0},
       108,
       40,
       1555,
       1.81,
       0.60,
       0.52,
       kA100Step,
       kA100Torch,
       kA100Fit,
       "a100",
       {kScaledA100, kFromMemory, kCool, kAttention},
       kA100Triton,
       kA100Flash2},
      {"v100",
       "NVIDIA V100 SXM2, 32 GB.",
       "NVIDIA V100 data sheet",
       {15.7, 125, 0, 0},
       80,
       32,
       900,
       1.81,
       0.60,
       0.52,
       kA100Step,
       kA100Torch,
       kA100Fit,
       "a100",
       {kScaledA100, kFromMemory, "Its 16 bits are fp16, at the rate that stands under bf16: it has no bf16.",
        "Launch time stands in: it is what was measured on a100.",
        "Attention's shares of peak are a100's, though FlashAttention-2 doesn't run on it."}},
      {"h100",
       "NVIDIA H100 SXM5, 80 GB.",
       "NVIDIA H100 data sheet; Vidur's profiles (Agrawal et al., MLSys 2024)",
       {66.9, 989.4, 1979, 0},
       132,
       80,
       3350,
       1.30,
       0.58,
       0.48,
       kH100Step,
       kH100Torch,
       kH100Fit,
       "h100",
       {kCool,
        "fp8 is fitted to 16 published multiplications of an H800 (DeepGEMM); below 1,024 rows times come "
        "out up to 42% long.",
        kLaunch, kAttention},
       kH100Triton,
       kH100Flash2},
      {"h800",
       "NVIDIA H800 SXM5, 80 GB.",
       "NVIDIA H100 data sheet; DeepSeek-V3 Technical Report, 2024, on what differs",
       {66.9, 989.4, 1979, 0},
       132,
       80,
       3350,
       1.30,
       0.58,
       0.48,
       kH100Step,
       kH100Torch,
       kH100Fit,
       "h100",
       {"It is taken to be an h100 but for NVLink, which is the node's (inner_link), and fp64, which nothing "
        "uses.",
        kFromMemory, kLaunch, kAttention},
       kH100Triton,
       kH100Flash2},
      {"h200",
       "NVIDIA H200 SXM, 141 GB.",
       "NVIDIA H200 data sheet",
       {66.9, 989.4, 1979, 0},
       132,
       141,
       4800,
       1.30,
       0.58,
       0.48,
       kH100Step,
       kH200Torch,
       kH100Fit,
       "h100",
       {kScaled, kFromMemory, kLaunch, kAttention},
       kH100Triton,
       kH100Flash2},
      {"b200",
       "NVIDIA B200 SXM, 180 GB.",
       "NVIDIA Blackwell data sheet",
       {80, 2250, 4500, 9000},
       148,
       180,
       8000,
       1.30,
       0.58,
       0.48,
       kH100Step,
       kH100Torch,
       kH100Fit,
       "h100",
       {kScaled, kFromMemory, kLaunch, kFp4, kBlackwell, kAttentionH100}},
      {"gb200",
       "NVIDIA GB200 superchip's GPU, 192 GB HBM3e.",
       "NVIDIA GB200 NVL72 data sheet",
       {80, 2500, 5000, 10000},
       152,
       192,
       8000,
       1.30,
       0.58,
       0.48,
       kH100Step,
       kH100Torch,
       kH100Fit,
       "h100",
       {kScaled, kFromMemory, kLaunch,
        "Its number of cores is less sure than its peaks; later data sheets have 186 GB.", kFp4, kBlackwell,
        kAttentionH100}},
      {"b300",
       "NVIDIA B300 SXM, 288 GB.",
       "NVIDIA HGX B300 data sheet",
       {75, 2250, 4500, 13500},
       148,
       288,
       8000,
       1.30,
       0.58,
       0.48,
       kH100Step,
       kH100Torch,
       kH100Fit,
       "h100",
       {kScaled, kFromMemory, kLaunch, "Its number of cores is less sure than its peaks.", kFp4, kBlackwell,
        kAttentionH100}},
      {"gb300",
       "NVIDIA GB300 superchip's GPU, 288 GB HBM3e.",
       "NVIDIA GB300 NVL72 data sheet",
       {80, 2500, 5000, 15000},
       152,
       288,
       8000,
       1.30,
       0.58,
       0.48,
       kH100Step,
       kH100Torch,
       kH100Fit,
       "h100",
       {kScaled, kFromMemory, kLaunch, "Its number of cores is less sure than its peaks.", kFp4, kBlackwell,
        kAttentionH100}},
      {"gh200",
       "NVIDIA GH200 superchip's GPU, 96 GB HBM3.",
       "NVIDIA GH200 data sheet; measured bandwidth and launch time: simllm (openfabric-systems/simllm)",
       {66.9, 989.4, 1979, 0},
       132,
       96,
       4023,
       1.30,
       0.58,
       0.48,
       kH100Step,
       kH100Torch,
       kGh200Fit,
       "h100",
       {kScaled, kCool, kAttention},
       kH100Triton,
       kH100Flash2},
      {"mi300x",
       "AMD Instinct MI300X, 192 GB.",
       "AMD MI300X data sheet",
       {163.4, 1307.4, 2614.9, 0},
       304,
       192,
       5300,
       1.30,
       0.40,
       0.30,
       kH100Step,
       kH100Torch,
       kMi300xFit,
       "h100",
       {kScaled, kFromMemory, kLaunch,
        "Large multiplications reach 0.65 of h100's share of peak in 16 bits, 0.59 in 8, as reported in 2024 "
        "(620 and 990 TFLOP/s, from memory); later libraries are faster.",
        "Attention's shares of peak are a guess."}},
      {"tpu_v5p",
       "Google TPU v5p, 95 GB.",
       "Google Cloud TPU v5p documentation",
       {0, 459, 0, 0},
       8,
       95,
       2765,
       1.30,
       0.58,
       0.48,
       kH100Step,
       kH100Torch,
       kH100Fit,
       "h100",
       {kScaled, kFromMemory,
        "Its programs are compiled as a whole: floors and launches of single operators are likely too long. "
        "The 8 cores are its matrix units.",
        kAttentionH100}},
  };
}

}  // namespace

std::span<const DeviceSpec> device_specs() {
  static const std::vector<DeviceSpec> all = all_devices();
  return all;
}

}  // namespace weft::goal
