#include "sim/results/path_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

namespace weft::results {

std::string path_text(std::vector<std::pair<double, std::string>> shares) {
  std::ranges::stable_sort(shares, std::greater<>(), &std::pair<double, std::string>::first);
  std::string text;
  for (const auto& [share, name] : shares) {
    if (share >= 1e-3) text += fmt::format("{}{:.1f}% {}", text.empty() ? "" : ", ", 100 * share, name);
  }
  return text;
}

}  // namespace weft::results
