#include "goal/workload/compute/device.h"

#include <algorithm>
#include <span>
#include <vector>

#include "sim/units/module.h"

namespace weft::goal {
namespace {

constexpr double kTera = 1e12;
constexpr double kNanoseconds = 1e9;
constexpr double kLaunchNs = 2000;

// Data sheets: NVIDIA A100 80GB SXM, H100 SXM, H200 SXM (dense rates).
std::span<const Device> devices() {
  static const std::vector<Device> kAll = {
      {"a100", {19.5, 312, 312, 80e9, 2.039e12, 0.7}},
      {"h100", {67, 989, 1979, 80e9, 3.35e12, 0.7}},
      {"h200", {67, 989, 1979, 141e9, 4.8e12, 0.7}},
  };
  return kAll;
}

double bytes_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return 4;
    case Precision::kBf16:
      return 2;
    case Precision::kFp8:
      return 1;
    case Precision::kFp4:
      return 0.5;
  }
  return 2;
}

}  // namespace

double Device::peak_flops(Precision precision) const {
  if (precision == Precision::kFp32) return peaks_.fp32 * kTera;
  return (precision == Precision::kBf16 ? peaks_.bf16 : peaks_.fp8) * kTera;
}

double Device::memory_ns(double bytes) const {
  return bytes / (peaks_.hbm_rate * peaks_.efficiency) * kNanoseconds;
}

double Device::gemm_ns(const Gemm& gemm) const {
  const double m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n),
               k = static_cast<double>(gemm.k), groups = static_cast<double>(gemm.groups);
  const double compute =
      2 * groups * m * n * k / (peak_flops(gemm.precision) * peaks_.efficiency) * kNanoseconds;
  return std::max(compute, memory_ns(groups * (bytes_of(gemm.precision) * (m * k + k * n) + 2 * m * n)));
}

double Device::attention_ns(const Attention& attention) const {
  const double flops = 4.0 * static_cast<double>(attention.batch * attention.heads * attention.head_dim) *
                       attention.pairs * (attention.backward ? 2.5 : 1);
  return flops / (peak_flops(attention.precision) * peaks_.efficiency) * kNanoseconds;
}

double Device::launch_ns() const { return kLaunchNs; }

double Device::memory_bytes() const { return peaks_.hbm_bytes; }

const std::string& Device::name() const { return name_; }

const Device& find_device(std::string_view name) {
  std::vector<std::string> known;
  for (const Device& device : devices()) {
    if (device.name() == name) return device;
    known.push_back(device.name());
  }
  fail_unknown_name("device", name, known);
}

}  // namespace weft::goal
