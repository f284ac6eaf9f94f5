// How long a device takes for one operator: a roofline with efficiencies by size.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "goal/workload/compute/device_spec.h"

namespace weft::goal {

// C = A·B for `groups` independent problems of m x k by k x n, 2·groups·m·n·k FLOPs.
struct Gemm {
  std::uint64_t m = 1, n = 1, k = 1, groups = 1;
  Precision precision = Precision::kBf16;
};

// Which fused kernel attention has.
enum class FlashKernel : std::uint8_t {
  kFastest,  // of the device: FlashAttention-2 on an A100, cuDNN's or FlashAttention-3 on an H100
  kTwo,      // FlashAttention-2
  kTriton,   // FlashAttention of 2022 in Triton
};

// Fused (flash) attention of one sequence batch: FLOPs forward are 4·batch·heads·pairs·head_dim, where pairs
// is how many (query, key) pairs are looked at (queries·keys, or about half of it if causal).
struct Attention {
  std::uint64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, head_dim = 128;
  double pairs = 1;
  bool backward = false;  // 2.5 times the FLOPs of forward (recomputes the scores)
  Precision precision = Precision::kBf16;
  FlashKernel kernel = FlashKernel::kFastest;  // one whose shares of the device's peak are known
};

class Measurements;

// A device by name (h100, a100, …), or a CSV file of measurements. Immutable, so threads may share it; a
// question costs about a microsecond: whoever asks the same again and again keeps the answers. All times
// count from when the kernel starts, and are those of a device without other work. Sizes of 0 take no time.
class Device {
 public:
  // With measurements, times are those of the nearest one, by the ratio that the formulas for `spec` give.
  explicit Device(DeviceSpec spec, std::shared_ptr<const Measurements> measured = nullptr);

  // These throw InputError where the device has no such precision, or its file no measurement of that kind.
  double gemm_ns(const Gemm& gemm) const;
  double attention_ns(const Attention& attention) const;
  double memory_ns(double bytes) const;  // an operator that only moves bytes through HBM, read and written
  double launch_ns() const;              // of one kernel, where it can't be hidden
  double memory_bytes() const;           // HBM of the device
  double peak_flops(Precision precision) const;  // dense, a second
  const std::string& name() const { return spec_.name; }
  const DeviceSpec& spec() const { return spec_; }
  // Are its times those of a file?
  bool is_measured() const { return measured_ != nullptr; }

 private:
  double gemm_by_formula(const Gemm& gemm) const;
  double attention_by_formula(const Attention& attention) const;
  double memory_by_formula(double bytes) const;

  DeviceSpec spec_;
  std::shared_ptr<const Measurements> measured_;
};

// A built-in device, or what has a '.' or '/' in it: a file of measurements (README.md says of what form),
// read once. The device lives until the program ends. Throws InputError that names the devices there are.
const Device& find_device(std::string_view name);

// The built-in ones: "a100, h100, …".
std::string device_names();

// The lines that `weft describe` prints of a device beside its name: peaks, times of some operators, doubts.
std::string device_details(const Device& device);

}  // namespace weft::goal
