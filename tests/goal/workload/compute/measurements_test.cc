// A file of a user's own measurements: what it answers, and what it is refused for.
#include "goal/workload/compute/measurements.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "goal/workload/compute/device.h"

namespace weft::goal {
namespace {

const std::string kHeader = "# like h100\nop,m,n,k,precision,us\n";

Device measured(const std::string& rows) {
  return Device(find_device("h100").spec(), std::make_shared<const Measurements>(kHeader + rows, "my.csv"));
}

void refuses(const std::string& text, const std::string& message) {
  CHECK_THROWS_WITH(Measurements(text, "my.csv"), Catch::StartsWith(message));
}

}  // namespace

TEST_CASE("measurements: what was measured comes back as it was") {
  const Device device = measured(
      "gemm,4096,8192,8192,bf16,1000\n"
      "gemm,4096,8192,8192,fp8,600\n"
      "attention_forward,32,8192,128,bf16,900\n"
      "attention_backward,32,8192,128,bf16,2500\n"
      "copy,1000000,1,1,bf16,3\n"
      "launch,1,1,1,bf16,2.5\n");
  CHECK(device.gemm_ns({4096, 8192, 8192}) == Approx(1e6));
  CHECK(device.gemm_ns({4096, 8192, 8192, 1, Precision::kFp8}) == Approx(6e5));
  Attention attention = {1, 32, 32, 8192, 8192, 128, 8192.0 * 8193 / 2};
  CHECK(device.attention_ns(attention) == Approx(9e5).epsilon(0.001));
  attention.backward = true;
  CHECK(device.attention_ns(attention) == Approx(2.5e6).epsilon(0.001));
  CHECK(device.memory_ns(1e6) == Approx(3000));
  CHECK(device.launch_ns() == Approx(2500));
}

TEST_CASE("measurements: between them times follow the formulas from the nearest") {
  const Device& h100 = find_device("h100");
  // Half as fast as the formula says for few tokens, a third for many.
  const double few = h100.gemm_ns({16, 8192, 8192}), many = h100.gemm_ns({4096, 8192, 8192});
  const Device device = measured("gemm,16,8192,8192,bf16," + std::to_string(few * 2 / 1e3) +
                                 "\ngemm,4096,8192,8192,bf16," + std::to_string(many * 3 / 1e3) + "\n");
  CHECK(device.gemm_ns({64, 8192, 8192}) == Approx(2 * h100.gemm_ns({64, 8192, 8192})).epsilon(1e-4));
  CHECK(device.gemm_ns({1024, 8192, 8192}) == Approx(3 * h100.gemm_ns({1024, 8192, 8192})).epsilon(1e-4));
}

TEST_CASE("measurements: columns may stand in any order, others are skipped") {
  const Measurements read("# like a100\n# made by hand\nus,op,k,n,m,precision,who\n7,gemm,3,2,1,bf16,me\n",
                          "my.csv");
  CHECK(read.like() == "a100");
  const Measured& row = read.nearest("gemm", {1, 2, 3});
  CHECK(row.us == 7);
  CHECK(row.m == 1);
  CHECK(row.k == 3);
}

TEST_CASE("measurements: mistakes are told with file and line") {
  refuses("", "my.csv: found no line");
  refuses("# like h100\nop,m,n,k,us\n", "my.csv:2: the column 'precision' is missing");
  refuses(kHeader + "gemm,1,1,1,bf16\n", "my.csv:3: found 5 cells; expected 6");
  refuses(kHeader + "\nmatmul,1,1,1,bf16,1\n", "my.csv:4: found 'matmul' as op; expected one of gemm, ");
  refuses(kHeader + "gemm,1,1,1,int8,1\n", "my.csv:3: found 'int8' as precision; expected one of fp32, ");
  refuses(kHeader + "gemm,1,0,1,bf16,1\n", "my.csv:3: found '0' as n; expected a number above 0");
  refuses(kHeader + "gemm,1,1,1,bf16,fast\n", "my.csv:3: found 'fast' as us; expected a number above 0");
  refuses(kHeader + "gemm,1,1,1,bf16,nan\n", "my.csv:3: found 'nan' as us");
}

TEST_CASE("measurements: what the file lacks is asked for, not guessed") {
  const Device device = measured("gemm,1,1,1,bf16,4\n");
  CHECK_THROWS_WITH(device.gemm_ns({1, 1, 1, 1, Precision::kFp8}),
                    "my.csv: found no measurement of gemm in fp8; expected one at least");
  CHECK_THROWS_WITH(device.launch_ns(), Catch::Contains("no measurement of launch in bf16"));
  CHECK_THROWS_WITH(device.memory_ns(8), Catch::Contains("no measurement of copy"));
}

TEST_CASE("measurements: without a word on what it is like, the nearest device is taken, and that is told") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/unnamed.csv";
  // Reading 57344 x 8192 weights at 1.6 TB/s, and 235 TFLOP/s: an A100.
  std::ofstream(path) << "op,m,n,k,precision,us\ngemm,1,57344,8192,bf16,585\ngemm,4096,8192,8192,bf16,2340\n";
  const DeviceSpec& spec = find_device(path).spec();
  CHECK(spec.fitted_to == "a100");
  CHECK_THAT(spec.doubts.front(),
             Catch::Contains("no comment '# like DEVICE'") && Catch::Contains("those of a100"));
  CHECK_THAT(device_details(find_device(path)),
             Catch::Contains("by the file's measurements") && Catch::Contains("2340.0"));
  const std::string bare = std::string(std::getenv("TEST_TMPDIR")) + "/bare.csv";
  std::ofstream(bare) << "op,m,n,k,precision,us\nlaunch,1,1,1,bf16,2\n";
  CHECK_THROWS_WITH(find_device(bare), Catch::Contains("bare.csv: found neither multiplications (gemm) nor"));
}

TEST_CASE("measurements: a device is found by its file") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/my_gpu.csv";
  std::ofstream(path) << kHeader << "gemm,64,64,64,bf16,9\n";
  const Device& device = find_device(path);
  CHECK(device.gemm_ns({64, 64, 64}) == Approx(9000));
  CHECK(device.memory_bytes() == 80e9);
  CHECK(&find_device(path) == &device);
  const std::string other = std::string(std::getenv("TEST_TMPDIR")) + "/like.csv";
  std::ofstream(other) << "# like h101\nop,m,n,k,precision,us\n";
  CHECK_THROWS_WITH(find_device(other), Catch::Contains("'h101' is not a device"));
}

}  // namespace weft::goal
