// Fits the model of matrix multiplications to measured times.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "goal/workload/compute/gemm_model.h"

namespace weft::goal {

struct GemmMeasurement {
  std::string device, model;
  double m = 0, n = 0, k = 0, us = 0;  // bf16
};

// Reads a CSV with a header and the columns gpu, model, op, m, n, k, tp, median_ms, …. Throws InputError with
// the line.
std::vector<GemmMeasurement> read_gemm_measurements(std::string_view text, const std::string& file_name);

// The fit with the least mean error (of the logarithm, at most 0.5 each) that a random search of so many
// steps finds. The same seed gives the same fit. `device` gives the peaks.
GemmFit fit_gemm(std::span<const GemmMeasurement> rows, const GemmProblem& device, int steps,
                 std::uint64_t seed);

// The relative error that this share of the rows doesn't exceed: 0.5 for the median.
double gemm_error(std::span<const GemmMeasurement> rows, const GemmProblem& device, const GemmFit& fit,
                  double quantile);

}  // namespace weft::goal
