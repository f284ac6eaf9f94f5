#include "goal/workload/compute/device.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "goal/file.h"
#include "goal/workload/compute/measurements.h"
#include "sim/units/did_you_mean.h"
#include "sim/units/module.h"

namespace weft::goal {
namespace {

constexpr double kNsPerUs = 1000;
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::array<double, 4> kInputBytes = {4, 2, 1, 0.5};
constexpr std::array<double, 4> kOutputBytes = {4, 2, 2, 2};

// Attention works on blocks of this many queries and keys; fewer queries fill half a block at least.
constexpr double kQueries = 128, kFewQueries = 64, kKeys = 512;
constexpr double kBackwardFlops = 2.5, kBackwardBytes = 2;
// Smaller heads have more exponentials for their FLOPs: about three quarters of the rate with 64 as with 128.
constexpr double kFullHead = 128, kHeadPower = 0.4;

double peak_of(const DeviceSpec& spec, Precision precision) {
  const auto at = static_cast<std::size_t>(precision);
  if (spec.tflops[at] > 0) return spec.tflops[at] * 1e12;
  std::string has;
  for (std::size_t i = 0; i < spec.tflops.size(); ++i) {
    if (spec.tflops[i] > 0) has += (has.empty() ? "" : ", ") + std::string(kPrecisionNames[i]);
  }
  throw InputError("device " + spec.name + " has no " + std::string(kPrecisionNames[at]) +
                   "; expected one of " + has);
}

double real(std::uint64_t value) { return static_cast<double>(value); }

double ceil_to(double value, double step) { return std::ceil(value / step) * step; }

// Queries that share keys fill a block together.
double rows_of(const Attention& attention) {
  return real(attention.queries) * real(attention.heads) / std::max(1.0, real(attention.kv_heads));
}

// The share of the cores that have a block to work on.
double busy_share(const Attention& attention, double cores) {
  const double blocks = real(attention.batch) * real(attention.kv_heads) *
                        std::ceil(rows_of(attention) / kQueries) * std::ceil(real(attention.keys) / kKeys);
  return std::min(1.0, blocks / cores);
}

AttentionShares attention_shares(FlashKernel kernel, const DeviceSpec& spec) {
  switch (kernel) {
    case FlashKernel::kFastest:
      return {spec.attention_forward, spec.attention_backward};
    case FlashKernel::kTwo:
      return spec.flash2;
    case FlashKernel::kTriton:
      return spec.triton;
  }
  return {};
}

double attention_share(const Attention& attention, const DeviceSpec& spec) {
  const AttentionShares shares = attention_shares(attention.kernel, spec);
  const double share = attention.backward ? shares.backward : shares.forward;
  if (attention.kernel == FlashKernel::kTriton) return share;
  return share * std::min(1.0, std::pow(real(attention.head_dim) / kFullHead, kHeadPower));
}

double attention_bytes(const Attention& attention) {
  const double queries = real(attention.queries) * real(attention.heads);
  const double keys = real(attention.keys) * real(attention.kv_heads);
  const double elements = 2 * real(attention.batch) * real(attention.head_dim) * (queries + keys);
  return elements * kInputBytes[static_cast<std::size_t>(attention.precision)] *
         (attention.backward ? kBackwardBytes : 1);
}

bool is_empty(const Gemm& gemm) { return gemm.m == 0 || gemm.n == 0 || gemm.k == 0 || gemm.groups == 0; }

bool is_empty(const Attention& attention) {
  return attention.batch == 0 || attention.heads == 0 || attention.kv_heads == 0 || attention.queries == 0 ||
         attention.keys == 0 || attention.head_dim == 0;
}

std::string lower_case(std::string_view name) {
  std::string lower;
  for (const char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// What a name begins with before its number: the maker's letters for a generation.
std::string_view generation(std::string_view name) {
  return name.substr(0, name.find_first_of("0123456789"));
}

const DeviceSpec& find_spec(const std::string& name, const SourceLocation& location) {
  const std::string lower = lower_case(name);
  std::vector<std::string> alike;
  for (const DeviceSpec& spec : device_specs()) {
    if (spec.name == name) return spec;
    if (generation(spec.name) == generation(lower)) alike.push_back(spec.name);
  }
  // A device of another generation is no slip of the pen, however near its name is.
  throw InputError(location, "'" + name + "' is not a device" + did_you_mean(lower, alike) +
                                 " (known: " + device_names() + ")");
}

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(value + 0.5); }

Attention causal(const Measured& row, bool backward) {
  return {whole(row.m), 1, 1, whole(row.n), whole(row.n), whole(row.k), row.n * (row.n + 1) / 2, backward,
          row.precision};
}

// How far a device's formulas are from the measured multiplications: the mean logarithm of the ratio.
double distance(const DeviceSpec& spec, std::span<const Measured> rows) {
  const Device device(spec);
  double sum = 0;
  for (const Measured& row : rows) {
    if (spec.tflops[static_cast<std::size_t>(row.precision)] == 0) return kNever;
    const double ns = device.gemm_ns({whole(row.m), whole(row.n), whole(row.k), 1, row.precision});
    sum += std::fabs(std::log(row.us * kNsPerUs / ns));
  }
  return sum / real(rows.size());
}

// The device that the file says its own is like, or else the one with the most similar times of
// multiplications.
DeviceSpec spec_like(const Measurements& measured, const std::string& path) {
  if (!measured.like().empty()) return find_spec(measured.like(), {path});
  const std::vector<Measured> rows = measured.rows("gemm");
  if (rows.empty()) {
    throw InputError(
        {path},
        "found neither multiplications (gemm) nor a comment '# like DEVICE'; expected one of them, "
        "for the times between measurements");
  }
  const auto nearer = [&](const DeviceSpec& a, const DeviceSpec& b) {
    return distance(a, rows) < distance(b, rows);
  };
  const std::span<const DeviceSpec> all = device_specs();
  DeviceSpec spec = *std::min_element(all.begin(), all.end(), nearer);
  spec.doubts.insert(
      spec.doubts.begin(),
      "The file has no comment '# like DEVICE': peaks, memory and times between measurements are those of " +
          spec.name + ", whose multiplications take times most like it.");
  return spec;
}

Device load(const std::string& path) {
  auto measured = std::make_shared<const Measurements>(FileView(path).bytes(), path);
  DeviceSpec spec = spec_like(*measured, path);
  spec.fitted_to = spec.name;
  spec.name = path;
  return Device(spec, measured);
}

Device make(const std::string& name) {
  if (name.find_first_of("./") != std::string::npos) return load(name);
  return Device(find_spec(name, {}));
}

}  // namespace

Device::Device(DeviceSpec spec, std::shared_ptr<const Measurements> measured)
    : spec_(std::move(spec)), measured_(std::move(measured)) {}

double Device::gemm_ns(const Gemm& gemm) const {
  if (is_empty(gemm)) return 0;
  const double formula = gemm_by_formula(gemm);
  if (measured_ == nullptr) return formula;
  const Measured& row =
      measured_->nearest("gemm", {real(gemm.m), real(gemm.n), real(gemm.k), gemm.precision});
  const Gemm near = {whole(row.m), whole(row.n), whole(row.k), 1, row.precision};
  return row.us * kNsPerUs * formula / gemm_by_formula(near);
}

double Device::gemm_by_formula(const Gemm& gemm) const {
  GemmProblem problem = problem_of(spec_, gemm.precision);
  problem.m = real(gemm.m);
  problem.n = real(gemm.n);
  problem.k = real(gemm.k);
  problem.groups = real(gemm.groups);
  return gemm_us(problem, fit_of(spec_, gemm.precision)) * kNsPerUs;
}

double Device::attention_ns(const Attention& attention) const {
  if (is_empty(attention)) return 0;
  if (attention_shares(attention.kernel, spec_).forward == 0) {
    const bool triton = attention.kernel == FlashKernel::kTriton;
    throw InputError("device " + spec_.name + ": it is not known how fast " +
                     (triton ? "Triton's attention" : "FlashAttention-2") + " is on it");
  }
  const double formula = attention_by_formula(attention);
  if (measured_ == nullptr) return formula;
  const double heads = real(attention.batch) * real(attention.heads);
  const char* op = attention.backward ? "attention_backward" : "attention_forward";
  // A sequence of its own keys that has as many pairs of each query and key, if these are not as many.
  const double tokens = std::sqrt(real(attention.queries) * real(attention.keys));
  const Measured& row =
      measured_->nearest(op, {heads, tokens, real(attention.head_dim), attention.precision});
  return row.us * kNsPerUs * formula / attention_by_formula(causal(row, attention.backward));
}

double Device::attention_by_formula(const Attention& attention) const {
  const double share = attention_share(attention, spec_);
  const double rows = rows_of(attention);
  const double flops = 4 * real(attention.batch) * real(attention.heads) * attention.pairs *
                       real(attention.head_dim) * (attention.backward ? kBackwardFlops : 1) *
                       ceil_to(rows, kFewQueries) / rows;
  const double core = flops / (peak_flops(attention.precision) * share * busy_share(attention, spec_.cores));
  const double memory = attention_bytes(attention) / (spec_.hbm_gb_s * 1e9 * spec_.fit.memory_share);
  return spec_.fit.floor_us * kNsPerUs + overlapped(core, memory) * 1e9;
}

double Device::memory_ns(double bytes) const {
  if (bytes <= 0) return 0;
  const double formula = memory_by_formula(bytes);
  if (measured_ == nullptr) return formula;
  const Measured& row = measured_->nearest("copy", {bytes, 1, 1, Precision::kBf16});
  return row.us * kNsPerUs * formula / memory_by_formula(row.m);
}

double Device::memory_by_formula(double bytes) const {
  return spec_.launch_us * kNsPerUs + bytes / (spec_.hbm_gb_s * spec_.fit.memory_share);
}

double Device::launch_ns() const {
  if (measured_ == nullptr) return spec_.launch_us * kNsPerUs;
  return measured_->nearest("launch", {1, 1, 1, Precision::kBf16}).us * kNsPerUs;
}

double Device::memory_bytes() const { return spec_.hbm_gb * 1e9; }

double Device::peak_flops(Precision precision) const { return peak_of(spec_, precision); }

GemmProblem problem_of(const DeviceSpec& spec, Precision precision) {
  const auto at = static_cast<std::size_t>(precision);
  GemmProblem problem;
  problem.input_bytes = kInputBytes[at];
  problem.output_bytes = kOutputBytes[at];
  problem.cores = spec.cores;
  problem.flops = peak_of(spec, precision) * 1e-6;
  problem.hbm_bytes = spec.hbm_gb_s * 1e3;
  return problem;
}

GemmFit fit_of(const DeviceSpec& spec, Precision precision) {
  GemmFit fit = spec.fit;
  if (precision != Precision::kFp8 && precision != Precision::kFp4) return fit;
  if (fit.narrow_fill > 0) fit.fill = fit.narrow_fill;
  // As many nanoseconds again are twice as many elements.
  if (precision == Precision::kFp4) fit.fill *= 2;
  for (double& share : fit.tile_share) share *= fit.narrow_share;
  return fit;
}

std::string device_names() {
  std::string names;
  for (const DeviceSpec& spec : device_specs()) names += (names.empty() ? "" : ", ") + spec.name;
  return names;
}

const Device& find_device(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, Device, std::less<>> devices;  // its nodes stay where they are
  const std::scoped_lock lock(mutex);
  const auto found = devices.find(name);
  if (found != devices.end()) return found->second;
  return devices.emplace(std::string(name), make(std::string(name))).first->second;
}

}  // namespace weft::goal
