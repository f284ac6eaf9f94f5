// The model of matrix multiplications against measured ones, above all those that it was not fitted to.
#include "goal/workload/compute/fit.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "goal/file.h"
#include "goal/workload/compute/device.h"

namespace weft::goal {
namespace {

constexpr int kSteps = 1500;
constexpr std::uint64_t kSeed = 1;
const std::vector<std::string> kModels = {"Llama-2-7b-hf", "Llama-2-70b-hf", "Qwen-72B"};

struct Halves {
  std::vector<GemmMeasurement> fitted, apart;
};

Halves rows(const std::string& device, const std::string& model_apart) {
  const std::string path = "tests/data/gemm/operators.csv";
  Halves halves;
  for (const GemmMeasurement& row : read_gemm_measurements(FileView(path).bytes(), path)) {
    if (row.device != device) continue;
    (row.model == model_apart ? halves.apart : halves.fitted).push_back(row);
  }
  return halves;
}

}  // namespace

TEST_CASE("fit: rows of a model that was kept apart are met within 10 percent, half of them") {
  for (const std::string device : {"a100", "h100"}) {
    const GemmProblem peaks = problem_of(find_device(device).spec());
    for (const std::string& model : kModels) {
      CAPTURE(device, model);
      const Halves halves = rows(device, model);
      REQUIRE(halves.apart.size() > 100);
      const GemmFit fit = fit_gemm(halves.fitted, peaks, kSteps, kSeed);
      // README.md has the figures: 3.4 to 6.6 percent, and 20 for nine rows of ten.
      CHECK(gemm_error(halves.apart, peaks, fit, 0.5) < 0.08);
      CHECK(gemm_error(halves.apart, peaks, fit, 0.9) < 0.20);
    }
  }
}

TEST_CASE("fit: one model's rows are enough for the two others") {
  const GemmProblem peaks = problem_of(find_device("h100").spec());
  for (const std::string& model : kModels) {
    CAPTURE(model);
    const Halves halves = rows("h100", model);
    const GemmFit fit = fit_gemm(halves.apart, peaks, kSteps, kSeed);
    CHECK(gemm_error(halves.fitted, peaks, fit, 0.5) < 0.10);
  }
}

TEST_CASE("fit: built-in devices have the fit that the README documents") {
  for (const std::string device : {"a100", "h100"}) {
    CAPTURE(device);
    const DeviceSpec& spec = find_device(device).spec();
    const std::vector<GemmMeasurement> all = rows(device, "").fitted;
    CHECK(gemm_error(all, problem_of(spec), spec.fit, 0.5) < 0.05);
    CHECK(gemm_error(all, problem_of(spec), spec.fit, 0.9) < 0.17);
    // Nor is it on one side: as many rows take longer as take less, give or take a fifth.
    std::size_t longer = 0;
    for (const GemmMeasurement& row : all) {
      const double ns =
          find_device(device).gemm_ns({static_cast<std::uint64_t>(row.m), static_cast<std::uint64_t>(row.n),
                                       static_cast<std::uint64_t>(row.k)});
      if (ns > row.us * 1000) ++longer;
    }
    CHECK(static_cast<double>(longer) / static_cast<double>(all.size()) == Approx(0.5).margin(0.1));
  }
}

TEST_CASE("fit: a model's own times are found again") {
  const GemmProblem peaks = problem_of(find_device("h100").spec());
  const GemmFit truth = {2, 0.7, 100, 0.9, 1, {0.4, 0.5, 0.6, 0.7, 0.7, 0.6}};
  std::vector<GemmMeasurement> made = rows("h100", "").fitted;
  for (GemmMeasurement& row : made) {
    GemmProblem problem = peaks;
    problem.m = row.m, problem.n = row.n, problem.k = row.k;
    row.us = gemm_us(problem, truth);
  }
  const GemmFit found = fit_gemm(made, peaks, kSteps, kSeed);
  CHECK(gemm_error(made, peaks, found, 0.5) < 0.02);
  CHECK(found.memory_share == Approx(truth.memory_share).epsilon(0.03));
}

TEST_CASE("fit: the same seed gives the same fit") {
  const Halves halves = rows("h100", "Qwen-72B");
  const GemmProblem peaks = problem_of(find_device("h100").spec());
  const GemmFit once = fit_gemm(halves.apart, peaks, 50, 7), again = fit_gemm(halves.apart, peaks, 50, 7);
  CHECK(once.memory_share == again.memory_share);
  CHECK(once.tile_share == again.tile_share);
}

}  // namespace weft::goal
