// The assignment problem.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::topologies {

// For n rows and n columns with `value[row * n + column]`: the column of each row, all different, such that
// the sum of values is greatest. O(n³).
// Method: successive shortest paths with potentials; R. Jonker and A. Volgenant, A shortest augmenting path
// algorithm for dense and sparse linear assignment problems, Computing 38, 1987.
std::vector<std::uint32_t> best_assignment(const std::vector<std::uint8_t>& value, std::uint32_t n);

}  // namespace weft::topologies
