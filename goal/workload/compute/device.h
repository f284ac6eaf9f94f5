// How long a device takes for one operator: a roofline.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace weft::goal {

enum class Precision : std::uint8_t { kFp32, kBf16, kFp8, kFp4 };

// C = A·B for `groups` independent problems of m x k by k x n, 2·groups·m·n·k FLOPs.
struct Gemm {
  std::uint64_t m = 1, n = 1, k = 1, groups = 1;
  Precision precision = Precision::kBf16;
};

// Fused (flash) attention of one batch of sequences: 4·batch·heads·pairs·head_dim FLOPs forward, where
// `pairs` says of how many pairs of a query and a key: queries·keys, or about half of it if causal.
struct Attention {
  std::uint64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, head_dim = 128;
  double pairs = 1;
  bool backward = false;  // 2.5 times the FLOPs of forward, as the scores are computed again
  Precision precision = Precision::kBf16;
};

// A device by name. Immutable; any number of threads may ask it.
class Device {
 public:
  // In TFLOP/s, bytes and bytes a second; the part of either that kernels reach.
  struct Peaks {
    double fp32 = 0, bf16 = 0, fp8 = 0, hbm_bytes = 0, hbm_rate = 0, efficiency = 1;
  };
  Device(std::string name, const Peaks& peaks) : name_(std::move(name)), peaks_(peaks) {}

  double gemm_ns(const Gemm& gemm) const;
  double attention_ns(const Attention& attention) const;
  double memory_ns(double bytes) const;  // of an operator that only moves bytes through HBM
  double launch_ns() const;              // of one kernel, where it can't be hidden
  double memory_bytes() const;           // HBM of the device
  double peak_flops(Precision precision) const;
  const std::string& name() const;

 private:
  std::string name_;
  Peaks peaks_;
};

// Throws InputError that names the devices there are.
const Device& find_device(std::string_view name);

}  // namespace weft::goal
