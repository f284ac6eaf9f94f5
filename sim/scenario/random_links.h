// How many links a fault draws: "3", or "5%" of those it draws from.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "sim/units/module.h"

namespace weft::sim {

struct RandomLinks {
  std::uint64_t number = 0;
  double percent = -1;  // 0 to 100; below 0: `number` says it

  bool any() const { return number > 0 || percent > 0; }
  std::uint64_t of(std::uint64_t links) const {
    if (percent < 0) return number;
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(links) * percent / 100));
  }
};

// `fault`: of a scenario. Throws InputError.
inline RandomLinks random_links(const Parameters& fault) {
  std::string_view text = fault.text("random_links");
  RandomLinks links;
  const auto read = [&](auto& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  };
  bool good = false;
  if (text.ends_with('%')) {
    text.remove_suffix(1);
    good = read(links.percent) && links.percent >= 0 && links.percent <= 100;
  } else {
    good = read(links.number);
  }
  if (!good) fault.fail("random_links", "it must be a whole number of links from 0, or a share like 5%");
  return links;
}

}  // namespace weft::sim
