#include "tools/weft/spread.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace weft::cli {

Spread spread_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() < 2) return {mean, mean, mean};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const boost::math::students_t distribution(n - 1);
  const double half = boost::math::quantile(distribution, 0.975) * std::sqrt(squares / (n - 1) / n);
  return {mean, mean - half, mean + half};
}

}  // namespace weft::cli
