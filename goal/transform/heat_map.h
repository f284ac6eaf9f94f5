// A communication matrix as a picture.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/transform/statistics.h"

namespace weft::goal {

// Bytes from rank to rank, summed over squares of `ranks_per_cell` ranks where there are many.
struct MatrixCells {
  std::uint32_t cells = 0;           // a side
  std::uint32_t ranks_per_cell = 1;  // the last cell may have fewer
  std::vector<double> bytes;         // row by row: senders downwards, receivers to the right
};

// At most `most_cells` cells a side. REQUIRES: most_cells > 0.
MatrixCells bin_matrix(std::span<const Exchange> exchanges, Rank ranks, std::uint32_t most_cells);

// A scalable picture with axes and a scale, for people: darker is more, on a logarithmic scale from the least
// to the most bytes of a cell; white is none.
std::string matrix_svg(const MatrixCells& matrix, Rank ranks);
// A grey picture of one pixel a cell (portable graymap, P2), with the same scale, for programs.
std::string matrix_pgm(const MatrixCells& matrix);
// The colours of the scalable picture, as PNG (ISO/IEC 15948): squares of equal size, at least 512 pixels in
// all where the cells are fewer, no axes.
std::string matrix_png(const MatrixCells& matrix);
// "from,to,messages,bytes", one row for each pair of ranks that exchange messages.
std::string matrix_csv(std::span<const Exchange> exchanges);

}  // namespace weft::goal
