// Names of nodes as users write them in patterns.
#pragma once

#include <fnmatch.h>

#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

// Without the blanks around it.
inline std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The parts between commas, without blanks around them.
inline std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(trim(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// As shells match file names: * stands for anything, ? for one character, [0-3] for one of these.
inline bool fits(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

}  // namespace weft::sim
