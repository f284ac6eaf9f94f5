#include "goal/workload/compute/gemm_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::goal {
namespace {

constexpr double kDepth = 64;        // k advances in steps of this many elements
constexpr double kPartialBytes = 8;  // an fp32 partial sum is written and read again
constexpr int kMostSplits = 8;

// The time that the cores take for all tiles.
double core_us(const GemmProblem& problem, const GemmFit& fit, std::size_t shape, int split) {
  const GemmTile& tile = kGemmTiles[shape];
  const double tiles = problem.groups * std::ceil(problem.m / tile.m) * std::ceil(problem.n / tile.n) * split;
  const double share = tiles / problem.cores;
  const double waves = std::max(1.0, fit.wave_hardness * std::ceil(share) + (1 - fit.wave_hardness) * share);
  const double depth = std::ceil(problem.k / (kDepth * split)) * kDepth + fit.fill;
  return waves * 2 * tile.m * tile.n * depth * problem.cores / (problem.flops * fit.tile_share[shape]);
}

// The time that HBM takes to move A, B and C once, and partial sums.
double memory_us(const GemmProblem& problem, const GemmFit& fit, int split) {
  const double inputs = problem.m * problem.k + problem.k * problem.n;
  const double outputs = problem.m * problem.n;
  const double partial = split > 1 ? split * kPartialBytes * outputs : 0;
  const double bytes = inputs * problem.input_bytes + outputs * problem.output_bytes + partial;
  return problem.groups * bytes / (problem.hbm_bytes * fit.memory_share);
}

}  // namespace

double overlapped(double a, double b) {
  const double a2 = a * a, b2 = b * b;
  return std::sqrt(std::sqrt(a2 * a2 + b2 * b2));
}

double gemm_us(const GemmProblem& problem, const GemmFit& fit) {
  double best = std::numeric_limits<double>::infinity();
  for (int split = 1; split <= kMostSplits; split *= 2) {
    const double memory = memory_us(problem, fit, split);
    const double extra = fit.floor_us + (split > 1 ? fit.split_us : 0);
    for (std::size_t shape = 0; shape < kGemmTiles.size(); ++shape) {
      best = std::min(best, extra + overlapped(core_us(problem, fit, shape, split), memory));
    }
  }
  return best;
}

}  // namespace weft::goal
