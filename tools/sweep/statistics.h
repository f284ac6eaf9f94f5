// Means of runs with several seeds, and how sure they are.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace weft::sweep {

// So many standard errors to either side of a mean hold 95% of Student's distribution with `freedom` degrees
// of freedom (Student, "The Probable Error of a Mean", Biometrika 6(1), 1908). REQUIRES: freedom >= 1.
double student_95(double freedom);

struct Estimate {
  std::size_t count = 0;
  double mean = 0, variance = 0;
  // The mean's 95% confidence interval; not known of a single value.
  std::optional<double> low, high;

  // Half the interval by the mean; not known of a single value.
  std::optional<double> relative_width() const;
};
// REQUIRES: not empty.
Estimate estimate(std::span<const double> values);

// Can't the two means be told apart? True where the 95% confidence interval of their difference holds 0
// (Welch, "The Generalization of 'Student's' Problem", Biometrika 34, 1947). Not known of single values that
// differ.
std::optional<bool> tie(const Estimate& a, const Estimate& b);

}  // namespace weft::sweep
