// Numbers among what is known of a graph (PackInfo::metadata).
#pragma once

#include <optional>
#include <string_view>

namespace weft::goal {

// None of an empty text, nor of one that no generator writes: they write finite numbers from 0 on.
std::optional<double> noted_number(std::string_view text);

}  // namespace weft::goal
