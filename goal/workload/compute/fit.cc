#include "goal/workload/compute/fit.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "goal/workload/compute/csv.h"

namespace weft::goal {
namespace {

constexpr double kWorstCounted = 0.5;  // outliers don't pull the fit
constexpr std::size_t kOthers = 5;     // parameters beside the tiles' shares

using Values = std::array<double, kOthers + kGemmTiles.size()>;

GemmFit to_fit(const Values& values) {
  GemmFit fit{values[0], values[1], values[2], values[3], values[4], {}};
  std::copy(values.begin() + kOthers, values.end(), fit.tile_share.begin());
  return fit;
}

struct Range {
  double low, high;
};

Range range_of(std::size_t parameter) {
  constexpr Range kRanges[kOthers] = {{0, 6}, {0.5, 1}, {0, 1000}, {0, 1}, {0, 8}};
  return parameter < kOthers ? kRanges[parameter] : Range{0.2, 0.95};
}

double predicted(const GemmMeasurement& row, GemmProblem problem, const GemmFit& fit) {
  problem.m = row.m, problem.n = row.n, problem.k = row.k;
  return gemm_us(problem, fit);
}

double loss(std::span<const GemmMeasurement> rows, const GemmProblem& device, const GemmFit& fit) {
  double sum = 0;
  for (const GemmMeasurement& row : rows) {
    sum += std::min(kWorstCounted, std::fabs(std::log(predicted(row, device, fit) / row.us)));
  }
  return sum / static_cast<double>(rows.size());
}

// Whole numbers of a generator that the standard defines bit by bit; its distributions are not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t n) { return random_() % n; }

 private:
  std::mt19937_64 random_;
};

// Moves one to three parameters, by less and less.
Values moved(Values values, double step, Dice& dice) {
  for (std::size_t left = 1 + dice.below(3); left > 0; --left) {
    const std::size_t at = dice.below(values.size());
    const Range range = range_of(at);
    const double by = (dice.uniform() + dice.uniform() + dice.uniform() - 1.5) * step;
    values[at] = std::clamp(values[at] + by * (range.high - range.low), range.low, range.high);
  }
  return values;
}

}  // namespace

GemmFit fit_gemm(std::span<const GemmMeasurement> rows, const GemmProblem& device, int steps,
                 std::uint64_t seed) {
  Dice dice(seed);
  Values best;
  for (std::size_t at = 0; at < best.size(); ++at) {
    const Range range = range_of(at);
    best[at] = range.low + (range.high - range.low) * 0.6;
  }
  double least = loss(rows, device, to_fit(best));
  for (int step = 0; step < steps; ++step) {
    const double left = 1 - static_cast<double>(step) / steps;
    const Values next = moved(best, std::max(0.01, 0.2 * left * left), dice);
    const double now = loss(rows, device, to_fit(next));
    if (now < least) least = now, best = next;
  }
  return to_fit(best);
}

double gemm_error(std::span<const GemmMeasurement> rows, const GemmProblem& device, const GemmFit& fit,
                  double quantile) {
  std::vector<double> errors;
  for (const GemmMeasurement& row : rows)
    errors.push_back(std::fabs(predicted(row, device, fit) / row.us - 1));
  std::sort(errors.begin(), errors.end());
  const double at = quantile * static_cast<double>(errors.size());
  return errors[std::min(errors.size() - 1, static_cast<std::size_t>(at))];
}

std::vector<GemmMeasurement> read_gemm_measurements(std::string_view text, const std::string& file_name) {
  std::vector<GemmMeasurement> rows;
  CsvReader csv(text, file_name, {"gpu", "model", "m", "n", "k", "median_ms"});
  while (csv.next()) {
    rows.push_back({std::string(csv.text("gpu")), std::string(csv.text("model")), csv.number("m"),
                    csv.number("n"), csv.number("k"), csv.number("median_ms") * 1000});
  }
  return rows;
}

}  // namespace weft::goal
