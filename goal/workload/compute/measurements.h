// A user's own measurements of operators.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "goal/workload/compute/device_spec.h"

namespace weft::goal {

// A row of the file. What m, n and k are depends on the operator; README.md says it.
struct Measured {
  double m = 1, n = 1, k = 1;
  Precision precision = Precision::kBf16;
  double us = 0;
};

// Read-only once read.
class Measurements {
 public:
  // Throws InputError with file and line.
  Measurements(std::string_view text, std::string file_name);

  // The device named in the comment "# like DEVICE"; empty without it.
  const std::string& like() const { return like_; }
  // All rows of this operator, in the order of the file.
  std::vector<Measured> rows(std::string_view op) const;
  // The row of this operator and precision whose sizes are nearest: the least sum of squared logarithms of
  // ratios, the first of equals. Throws InputError that names the file if there is none.
  const Measured& nearest(std::string_view op, const Measured& asked) const;

 private:
  struct Row {
    std::string op;
    Measured measured;
  };
  std::string file_name_, like_;
  std::vector<Row> rows_;
};

}  // namespace weft::goal
