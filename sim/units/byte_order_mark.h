// The mark that editors on Windows put before texts in UTF-8, and that no other kind of file begins with.
#pragma once

#include <cstddef>
#include <string_view>

namespace weft {

// How many bytes of a file's first ones are the mark: 0 or 3.
inline std::size_t size_of_mark(std::string_view first) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return first.starts_with(kMark) ? kMark.size() : 0;
}

}  // namespace weft
