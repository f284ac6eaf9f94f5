#include "sim/units/grouped.h"

#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>

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

std::string short_bytes(double bytes) {
  constexpr std::string_view kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  for (; bytes >= 999.5 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1000;
  return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

std::string short_time(double ns) {
  constexpr std::string_view kUnits[] = {"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  for (; ns >= 999.5 && unit + 1 < std::size(kUnits); ++unit) ns /= 1000;
  return ns < 1000 ? fmt::format("{:.3g} {}", ns, kUnits[unit]) : fmt::format("{:.0f} {}", ns, kUnits[unit]);
}

}  // namespace weft
