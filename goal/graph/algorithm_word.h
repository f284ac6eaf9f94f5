// How graphs name the algorithm of a collective: "ring:segment=64KiB".
#pragma once

#include <algorithm>
#include <string_view>

namespace weft::goal {

constexpr bool belongs_to_algorithm(char c) {
  constexpr std::string_view kOthers = "_:=,.";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != std::string_view::npos;
}
// Is it a word that the text form can hold? Which algorithms there are, the replay knows.
constexpr bool is_algorithm_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), belongs_to_algorithm);
}

}  // namespace weft::goal
