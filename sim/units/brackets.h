// Lists whose items may hold lists in brackets: "slim_fly:q=5; torus:dims=[4,4]".
#pragma once

#include <string_view>
#include <vector>

namespace weft {

// The pieces between the separators that stand outside all brackets; one more than there are of these, and
// views of `text`.
std::vector<std::string_view> split_outside_brackets(std::string_view text, char separator);

// What stands in the brackets around a text; the text itself if there are none.
std::string_view without_brackets(std::string_view text);

}  // namespace weft
