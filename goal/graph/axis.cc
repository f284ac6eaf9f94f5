#include "goal/graph/axis.h"

#include <algorithm>
#include <cctype>

namespace weft::goal {

std::string axis_of(std::string_view communicator) {
  const std::size_t blank = communicator.find(' ');
  if (blank == std::string_view::npos || blank == 0 || blank + 1 == communicator.size()) return "";
  const std::string_view word = communicator.substr(0, blank), number = communicator.substr(blank + 1);
  const bool numbered =
      std::ranges::all_of(word, [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; }) &&
      std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c) != 0; });
  return numbered ? std::string(word) : "";
}

}  // namespace weft::goal
