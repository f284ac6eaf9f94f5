// Axes of parallelism, as communicators tell them by their names.
#pragma once

#include <string>
#include <string_view>

namespace weft::goal {

// Communicators that a program numbers ("tp 0", "tp 1", …) stand for one axis: the word, of
// letters and '_'. "" for others.
std::string axis_of(std::string_view communicator);

}  // namespace weft::goal
