// Makes packed graphs that no memory could hold: the loops of one that was packed are given more rounds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::bench {

// Gives the largest outermost loop of each program of a packed file (version 2) `factor` times as many
// rounds. Throws InputError if a program has none, values within it that vary, labels, or more than 2^31 - 1
// operations in the end. REQUIRES: factor > 0, and that nothing before the loop has dependents behind it:
// they are stored as distances, and stay as far away as they were.
std::string stretched(std::string_view file, std::uint32_t factor);

}  // namespace weft::bench
