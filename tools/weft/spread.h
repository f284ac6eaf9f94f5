// The mean of runs that differ in their seed, and how sure it is.
#pragma once

#include <span>

namespace weft::cli {

// Student's 95% interval for the mean; of a single run, the run itself.
struct Spread {
  double mean = 0, low = 0, high = 0;
};
Spread spread_of(std::span<const double> values);

// Can't these be told apart? Their intervals have values in common.
inline bool is_tie(const Spread& a, const Spread& b) { return a.low <= b.high && b.low <= a.high; }

}  // namespace weft::cli
