#include "goal/noted_number.h"

#include <charconv>
#include <cmath>

namespace weft::goal {

std::optional<double> noted_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

}  // namespace weft::goal
