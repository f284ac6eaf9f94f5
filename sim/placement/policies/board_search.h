// Virtual sub-meshes of boards.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft::placement {

// Columns and rows, each ascending: the boards where they cross.
struct BoardSet {
  std::vector<std::uint32_t> columns, rows;
};

// The first choice of `columns` of the x columns, in lexicographic order, that leaves `rows` rows with all of
// their boards free, and the first such rows; none: there is none, or it was not found before so many
// sets of rows were intersected as `steps` says (0 is left then). Neither columns nor rows need be next to
// each other: rows and columns are switched, so any of them form a mesh of that size.
// Source: T. Hoefler et al., HammingMesh: a network topology for large-scale deep learning, SC 2022 (virtual
// sub-HxMeshes). REQUIRES: free[u·y + v] is there for all boards; columns and rows are 1 or more.
std::optional<BoardSet> find_boards(std::uint32_t x, std::uint32_t y, std::span<const std::uint8_t> free,
                                    std::uint32_t columns, std::uint32_t rows, std::uint64_t& steps);

}  // namespace weft::placement
