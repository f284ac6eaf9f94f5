// What modules count of themselves: how often something happened that has a name of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft {

// Names, as they stand in the results, with counts.
using Signals = std::vector<std::pair<std::string, std::uint64_t>>;

// Adds one count to those of the same name, or behind all. Of a name that begins with "most_" the greatest is
// taken.
inline void add_signal(const std::string& name, std::uint64_t count, Signals& sum) {
  const auto known =
      std::find_if(sum.begin(), sum.end(), [&name](const auto& each) { return each.first == name; });
  if (known == sum.end()) {
    sum.emplace_back(name, count);
  } else {
    known->second = name.starts_with("most_") ? std::max(known->second, count) : known->second + count;
  }
}

}  // namespace weft
