// Multiplications in 8 bits against published ones (tests/data/gemm/README.md).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "goal/workload/compute/device.h"

namespace weft::goal {
namespace {

struct Row {
  Gemm gemm;
  double us = 0;
};

// Those with so many rows or more.
std::vector<Row> published(std::uint64_t least_rows) {
  std::ifstream file("tests/data/gemm/fp8.csv");
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    std::string device;
    Gemm gemm;
    double tflops = 0;
    REQUIRE(words >> device >> gemm.m >> gemm.n >> gemm.k >> gemm.groups >> tflops);
    gemm.precision = Precision::kFp8;
    const double flops = 2.0 * static_cast<double>(gemm.groups * gemm.m * gemm.n * gemm.k);
    if (gemm.groups * gemm.m >= least_rows) rows.push_back({gemm, flops / tflops / 1e6});
  }
  return rows;
}

// How far the times are off, each as a share, smallest first.
std::vector<double> errors(const std::vector<Row>& rows, const Device& device) {
  std::vector<double> found;
  for (const Row& row : rows) found.push_back(std::fabs(device.gemm_ns(row.gemm) / 1000 / row.us - 1));
  std::sort(found.begin(), found.end());
  return found;
}

double distance(const std::vector<Row>& rows, DeviceSpec spec, double fill, double share) {
  spec.fit.narrow_fill = fill;
  spec.fit.narrow_share = share;
  const Device device(spec);
  double sum = 0;
  for (const Row& row : rows) sum += std::fabs(std::log(device.gemm_ns(row.gemm) / 1000 / row.us));
  return sum;
}

}  // namespace

TEST_CASE("fp8: times of an H100 are those published of an H800, which computes alike") {
  const std::vector<Row> rows = published(1024);
  REQUIRE(rows.size() == 16);
  const std::vector<double> found = errors(rows, find_device("h100"));
  CHECK(found[found.size() / 2] < 0.03);
  CHECK(found.back() < 0.13);
  // Fewer rows of A are bound by memory, or by the floor, which was fitted to times with a launch.
  CHECK(errors(published(0), find_device("h100"))[14] < 0.06);
}

TEST_CASE("fp8: no other fill and share are nearer") {
  const std::vector<Row> rows = published(1024);
  const DeviceSpec& spec = find_device("h100").spec();
  const double built_in = distance(rows, spec, spec.fit.narrow_fill, spec.fit.narrow_share);
  for (double fill = 200; fill <= 1000; fill += 50) {
    for (double share = 0.86; share < 1.05; share += 0.02) {
      CAPTURE(fill, share);
      CHECK(distance(rows, spec, fill, share) >= built_in * 0.999);
    }
  }
}

TEST_CASE("fp8: a multiplication with short rows is less than twice as fast as in 16 bits") {
  const Device& h100 = find_device("h100");
  const auto gain = [&](std::uint64_t k) {
    return h100.gemm_ns({8192, 8192, k}) / h100.gemm_ns({8192, 8192, k, 1, Precision::kFp8});
  };
  CHECK(gain(512) < 1.5);
  CHECK(gain(512) < gain(4096));
  CHECK(gain(4096) < gain(32768));
  CHECK(gain(32768) < 2);
}

}  // namespace weft::goal
