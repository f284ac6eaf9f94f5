#include "sim/units/grouped.h"

#include <fmt/core.h>

#include <cmath>

namespace weft {

std::string grouped(double value) {
  if (value < 1000 && value != std::floor(value)) return fmt::format("{:.2f}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

}  // namespace weft
