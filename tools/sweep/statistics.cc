#include "tools/sweep/statistics.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace weft::sweep {
double student_95(double freedom) { return boost::math::quantile(boost::math::students_t(freedom), 0.975); }

std::optional<double> Estimate::relative_width() const {
  if (!high) return std::nullopt;
  return mean == 0 ? 0 : (*high - mean) / std::abs(mean);
}

Estimate estimate(std::span<const double> values) {
  Estimate result{.count = values.size()};
  const double count = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / count;
  // Exact where all are equal, so that the interval has no width.
  bool equal = true;
  for (const double value : values) equal = equal && value == values[0];
  if (equal) result.mean = values[0];
  if (values.size() < 2) return result;
  for (const double value : values) result.variance += std::pow(value - result.mean, 2) / (count - 1);
  const double half = equal ? 0 : student_95(count - 1) * std::sqrt(result.variance / count);
  result.low = result.mean - half;
  result.high = result.mean + half;
  return result;
}

std::optional<bool> tie(const Estimate& a, const Estimate& b) {
  if (a.mean == b.mean) return true;
  if (a.count < 2 || b.count < 2) return std::nullopt;
  const double of_a = a.variance / static_cast<double>(a.count);
  const double of_b = b.variance / static_cast<double>(b.count);
  const double error = of_a + of_b;
  if (error == 0) return false;
  const double freedom =
      error * error /
      (of_a * of_a / static_cast<double>(a.count - 1) + of_b * of_b / static_cast<double>(b.count - 1));
  return std::abs(a.mean - b.mean) <= student_95(freedom) * std::sqrt(error);
}

}  // namespace weft::sweep
