// Devices against what follows on paper from their peaks, and against published ranges.
#include "goal/workload/compute/device.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "goal/workload/compute/operators.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

double tflops(const std::string& device, const Gemm& gemm) {
  const double flops = 2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
                       static_cast<double>(gemm.k) * static_cast<double>(gemm.groups);
  return flops / find_device(device).gemm_ns(gemm) / 1e3;
}

// Returns the median over Llama-2-70B's four matrices for so many tokens, as one of `tp` devices has them.
double median_tflops(const std::string& device, std::uint64_t tokens, std::uint64_t tp) {
  std::vector<double> all = {
      tflops(device, {tokens, 10240 / tp, 8192}), tflops(device, {tokens, 8192, 8192 / tp}),
      tflops(device, {tokens, 57344 / tp, 8192}), tflops(device, {tokens, 8192, 28672 / tp})};
  std::sort(all.begin(), all.end());
  return (all[1] + all[2]) / 2;
}

}  // namespace

TEST_CASE("device: a huge multiplication comes to the best tile's share of peak, and no nearer") {
  for (const DeviceSpec& spec : device_specs()) {
    CAPTURE(spec.name);
    const double best = *std::max_element(spec.fit.tile_share.begin(), spec.fit.tile_share.end());
    const double share = tflops(spec.name, {65536, 65536, 65536}) / spec.tflops[1];
    CHECK(share <= best);
    CHECK(share > 0.95 * best);
  }
}

TEST_CASE("device: a tiny multiplication takes the floor, nothing takes nothing") {
  for (const DeviceSpec& spec : device_specs()) {
    CAPTURE(spec.name);
    const Device& device = find_device(spec.name);
    CHECK(device.gemm_ns({1, 1, 1}) >= spec.fit.floor_us * 1000);
    CHECK(device.gemm_ns({16, 16, 16}) < spec.fit.floor_us * 1000 + 2000);
    CHECK(device.gemm_ns({0, 5, 5}) == 0);
    CHECK(device.memory_ns(0) == 0);
    CHECK(device.attention_ns({.queries = 0}) == 0);
  }
}

TEST_CASE("device: a matrix times a vector takes the weights' time through HBM") {
  // 57344 x 8192 weights of 2 bytes, 939.5 MB: measured 0.309 ms on an H100, 0.58 on an A100.
  CHECK(find_device("h100").gemm_ns({1, 57344, 8192}) == Approx(309e3).epsilon(0.05));
  CHECK(find_device("a100").gemm_ns({1, 57344, 8192}) == Approx(580e3).epsilon(0.05));
  CHECK(find_device("h100").gemm_ns({8, 57344, 8192}) ==
        Approx(find_device("h100").gemm_ns({1, 57344, 8192})).epsilon(0.02));
}

TEST_CASE("device: memory operators take launch and bytes by bandwidth") {
  // A copy on an A100 was measured to reach 1,672 GB/s, one on a GH200 3,451.
  CHECK(10e9 / find_device("a100").memory_ns(10e9) == Approx(1672).epsilon(0.01));
  CHECK(10e9 / find_device("gh200").memory_ns(10e9) == Approx(3451).epsilon(0.01));
  const Device& h100 = find_device("h100");
  CHECK(h100.memory_ns(2e6) - h100.memory_ns(1e6) == Approx(1e6 / (3350 * 0.8905)));
  CHECK(h100.memory_ns(1) == Approx(h100.launch_ns()).margin(1));
  CHECK(find_device("a100").launch_ns() == Approx(1810));
}

TEST_CASE("device: times never fall as a size grows") {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = 1; size < 20000; size += 1 + size / 7) sizes.push_back(size);
  for (const std::string name : {"a100", "h100", "tpu_v5p"}) {
    const Device& device = find_device(name);
    for (const std::uint64_t other : {1, 100, 1024, 8192}) {
      for (std::size_t i = 1; i < sizes.size(); ++i) {
        const std::uint64_t less = sizes[i - 1], more = sizes[i];
        CAPTURE(name, other, less, more);
        CHECK(device.gemm_ns({less, other, 4096}) <= device.gemm_ns({more, other, 4096}));
        CHECK(device.gemm_ns({other, less, 4096}) <= device.gemm_ns({other, more, 4096}));
        CHECK(device.gemm_ns({other, 4096, less}) <= device.gemm_ns({other, 4096, more}));
        CHECK(device.gemm_ns({other, 512, 512, less}) <= device.gemm_ns({other, 512, 512, more}));
      }
    }
  }
}

TEST_CASE("device: throughput of a language model's matrices is in the measured ranges") {
  struct Range {
    const char* device;
    std::uint64_t tokens, tp;
    double low, high;
  };
  // Medians of Vidur's profiles for shapes of Llama-2-70B, lowest and highest, give or take the
  // fit's own median error.
  for (const Range& range : {Range{"h100", 64, 1, 170, 190},
                             {"h100", 128, 1, 325, 370},
                             {"h100", 256, 1, 490, 660},
                             {"h100", 512, 1, 550, 890},
                             {"h100", 1024, 1, 530, 700},
                             {"h100", 4096, 1, 670, 730},
                             {"h100", 64, 8, 100, 170},
                             {"h100", 256, 8, 260, 560},
                             {"h100", 1024, 8, 480, 720},
                             {"h100", 4096, 8, 570, 810},
                             {"a100", 64, 1, 88, 99},
                             {"a100", 256, 1, 180, 225},
                             {"a100", 4096, 1, 229, 241},
                             {"a100", 64, 8, 58, 93},
                             {"a100", 256, 8, 119, 195},
                             {"a100", 4096, 8, 223, 249}}) {
    CAPTURE(range.device, range.tokens, range.tp);
    const double found = median_tflops(range.device, range.tokens, range.tp);
    CHECK(found >= range.low * 0.95);
    CHECK(found <= range.high * 1.05);
  }
}

TEST_CASE("device: grouped multiplications fill the device together") {
  const Device& h100 = find_device("h100");
  const double one = h100.gemm_ns({512, 2048, 7168});
  const double eight = h100.gemm_ns({512, 2048, 7168, 8});
  CHECK(eight > one);
  CHECK(eight < 8 * one);
  // As many FLOPs in one piece read A and B less often.
  CHECK(eight >= h100.gemm_ns({8 * 512, 2048, 7168}));
}

TEST_CASE(
    "device: attention of long sequences reaches its share of peak, backward takes 2.5 times the FLOPs") {
  const Device& h100 = find_device("h100");
  const double pairs = 8192.0 * 8193 / 2;
  Attention attention = {1, 32, 32, 8192, 8192, 128, pairs};
  const double flops = 4 * 32 * pairs * 128;
  const double forward = h100.attention_ns(attention);
  CHECK(flops / forward / 1e3 == Approx(989.4 * 0.58).epsilon(0.03));
  attention.backward = true;
  // DeepSeek's published profile has 3.78 ms backward for 1.24 forward.
  CHECK(h100.attention_ns(attention) / forward == Approx(3.78 / 1.24).epsilon(0.05));
}

// NVIDIA/cudnn-frontend, benchmark/sdpa_benchmark_training/results (2026): cuDNN in bf16, causal, medians in
// ms.
TEST_CASE("device: attention takes as long as cuDNN's was measured on H200 and GB200") {
  struct Row {
    const char* device;
    std::uint64_t batch, heads, kv_heads, tokens, head_dim;  // the mean of keys' and values'
    double forward_ms, backward_ms;
  };
  for (const Row& row : {Row{"h200", 1, 64, 8, 4096, 128, 0.465, 1.450},
                         {"h200", 1, 64, 8, 8192, 128, 1.708, 5.083},
                         {"gb200", 2, 64, 8, 4096, 128, 0.391, 1.198},
                         {"gb200", 2, 64, 8, 8192, 128, 1.397, 4.127},
                         {"gb200", 2, 128, 128, 4096, 160, 0.977, 3.383},
                         {"gb200", 2, 128, 128, 8192, 160, 3.470, 11.984},
                         {"gb200", 2, 64, 64, 8192, 160, 1.733, 6.005}}) {
    CAPTURE(row.device, row.heads, row.tokens, row.head_dim);
    const double tokens = static_cast<double>(row.tokens);
    Attention attention = {row.batch,  row.heads,    row.kv_heads,       row.tokens,
                           row.tokens, row.head_dim, tokens * tokens / 2};
    CHECK(find_device(row.device).attention_ns(attention) == Approx(row.forward_ms * 1e6).epsilon(0.16));
    attention.backward = true;
    CHECK(find_device(row.device).attention_ns(attention) == Approx(row.backward_ms * 1e6).epsilon(0.16));
  }
}

TEST_CASE("device: Triton's attention has a share of peak of its own, for small heads too") {
  const double pairs = 16384.0 * 16385 / 2, peak = 312;
  for (const std::uint64_t head_dim : {64u, 128u}) {
    Attention attention = {1, 32, 32, 16384, 16384, head_dim, pairs};
    attention.kernel = FlashKernel::kTriton;
    const double flops = 4 * 32 * pairs * static_cast<double>(head_dim);
    CHECK(flops / find_device("a100").attention_ns(attention) / 1e3 == Approx(peak * 0.54).epsilon(0.03));
    attention.backward = true;
    CHECK(2.5 * flops / find_device("a100").attention_ns(attention) / 1e3 ==
          Approx(peak * 0.27).epsilon(0.03));
    CHECK_THROWS_AS(find_device("b200").attention_ns(attention), InputError);
  }
}

TEST_CASE("device: attention of one query reads the keys and values") {
  // Batch 64, 8 of 64 heads have keys, 8192 of them: 2 x 64 x 8 x 8192 x 128 x 2 bytes = 2.147 GB.
  const Attention decode = {64, 64, 8, 1, 8192, 128, 8192};
  const double ns = find_device("h100").attention_ns(decode);
  CHECK(ns == Approx(2.147e9 / (3350 * 0.8905)).epsilon(0.02));
}

TEST_CASE("device: bytes of memory operators") {
  CHECK(norm_bytes(10, 100) == 4000);
  CHECK(residual_bytes(10, 100) == 6000);
  CHECK(activation_bytes(10, 100, true) == 6000);
  CHECK(activation_backward_bytes(10, 100, false) == 6000);
  // 70 billion parameters on 64 devices with 1 TB/s: 32.8 ms.
  CHECK(adam_bytes(70e9 / 64) == Approx(32.8e9).epsilon(0.001));
}

TEST_CASE("device: what isn't there is refused by name") {
  CHECK_THROWS_WITH(find_device("h10"), Catch::StartsWith("'h10' is not a device; did you mean 'h100'?"));
  // What another maker or another generation has is no slip: P100 is not an A100, L40 is not what begins with
  // h.
  for (const char* name : {"p100", "l40", "t4", "mi30", "b1"}) {
    CAPTURE(name);
    const bool alike = std::string(name) == "mi30" || std::string(name) == "b1";
    CHECK_THROWS_WITH(find_device(name), Catch::Contains("(known: " + device_names() + ")"));
    if (!alike) CHECK_THROWS_WITH(find_device(name), !Catch::Contains("did you mean"));
  }
  CHECK_THROWS_WITH(find_device("MI300X"), Catch::Contains("did you mean 'mi300x'?"));
  CHECK_THROWS_WITH(find_device("a100").gemm_ns({1, 1, 1, 1, Precision::kFp8}),
                    "device a100 has no fp8; expected one of fp32, bf16");
  CHECK_THROWS_AS(find_device("no/such.csv"), InputError);
}

TEST_CASE("device: large products on scaled ones take the times of their peaks") {
  // Compute-bound in the same efficiency, so that times are as the peaks and nothing else.
  struct Pair {
    const char *device, *of;
    double ratio;
    Precision precision;
  };
  for (const Pair& pair : {Pair{"gb200", "b200", 2500.0 / 2250, Precision::kBf16},
                           {"gb200", "h100", 5000.0 / 1979, Precision::kFp8},
                           {"b300", "gb300", 2250.0 / 2500, Precision::kBf16},
                           {"v100", "a100", 125.0 / 312, Precision::kBf16},
                           {"a100_40gb", "a100", 1, Precision::kBf16},
                           {"h800", "h100", 1, Precision::kFp8},
                           // As measured, where its peaks are 1.32 times as high.
                           {"mi300x", "h100", 620.0 / 720, Precision::kBf16},
                           {"mi300x", "h100", 990.0 / 1280, Precision::kFp8}}) {
    CAPTURE(pair.device);
    const Gemm large{65536, 65536, 65536, 1, pair.precision};
    CHECK(find_device(pair.of).gemm_ns(large) / find_device(pair.device).gemm_ns(large) ==
          Approx(pair.ratio).epsilon(0.02));
  }
  // Copies take the time of the memory.
  CHECK(find_device("a100").memory_ns(10e9) / find_device("a100_40gb").memory_ns(10e9) ==
        Approx(1555.0 / 2039).epsilon(0.001));
  CHECK(find_device("v100").memory_bytes() == 32e9);
}

TEST_CASE("device: every built-in one says what it is, from where, and what to doubt") {
  std::set<std::string> names;
  for (const DeviceSpec& spec : device_specs()) {
    CAPTURE(spec.name);
    CHECK(names.insert(spec.name).second);
    CHECK_FALSE(spec.source.empty());
    CHECK_FALSE(spec.doubts.empty());
    CHECK(find_device(spec.name).peak_flops(Precision::kBf16) > 1e14);
    CHECK(find_device(spec.name).memory_bytes() >= 32e9);
    const std::string details = device_details(find_device(spec.name));
    const bool measured = spec.fitted_to == spec.name;
    CHECK((details.find("not measured on this device") == std::string::npos) == measured);
  }
  CHECK(names.size() == 13);
}

}  // namespace weft::goal
