// The grid that a program is to be laid out on when there are more ranks, or fewer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/transform/grid.h"

namespace weft::goal {

// Makes a grid of the same kind with so many ranks: with these dimensions, or, if none are given, as evenly
// grown as can be. Nothing if it can't be made so.
std::optional<RankGrid> new_grid(const RankGrid& grid, Rank ranks, const std::vector<std::uint32_t>& dims);

// Why it can't, and what would fit.
std::string why_not(const RankGrid& grid, Rank ranks, const std::vector<std::uint32_t>& dims);

}  // namespace weft::goal
