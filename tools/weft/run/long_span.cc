#include "tools/weft/run/long_span.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::cli {
namespace {

constexpr double kYear = 365.25 * 86400;

// 0: no such unit.
double unit(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, double>, 9> kUnits = {{{"ns", 1e-9},
                                                                          {"us", 1e-6},
                                                                          {"ms", 1e-3},
                                                                          {"s", 1},
                                                                          {"min", 60},
                                                                          {"h", 3600},
                                                                          {"d", 86400},
                                                                          {"days", 86400},
                                                                          {"y", kYear}}};
  for (const auto& [known, seconds] : kUnits) {
    if (name == known) return seconds;
  }
  return 0;
}

}  // namespace

double parse_span(std::string_view text, std::string_view of, bool zero_allowed) {
  constexpr double kLongest = 1e6 * kYear;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  const bool is_zero = error == std::errc() && number == 0 && rest.empty();
  const double seconds = number * unit(rest);
  const bool fits = zero_allowed ? seconds >= 0 : seconds > 0;
  if (error != std::errc() || !(is_zero ? zero_allowed : unit(rest) > 0 && fits) || !(seconds <= kLongest)) {
    throw InputError(fmt::format("{} is '{}'; expected a time {} 0 like 3.9s, 10min, 2h, 30d or 5.8y", of,
                                 text, zero_allowed ? "of at least" : "above"));
  }
  return seconds;
}

std::string span_text(double seconds) {
  if (std::isinf(seconds)) return "never";
  if (seconds >= 2 * kYear) return fmt::format("{:.1f} y", seconds / kYear);
  if (seconds >= 2 * 86400) return fmt::format("{:.1f} d", seconds / 86400);
  if (seconds >= 2 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
  if (seconds >= 120) return fmt::format("{:.1f} min", seconds / 60);
  if (seconds >= 1 || seconds == 0) return fmt::format("{:.4g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} us", seconds * 1e6);
}

}  // namespace weft::cli
