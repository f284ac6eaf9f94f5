// Files of a communication matrix, for the commands that make one.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "goal/transform/statistics.h"

namespace weft::cli {

// Throws InputError unless the name ends in .svg, .png or .pgm. To be called before the work, not after.
void check_picture_name(const std::string& path);
// Draws the matrix in the format that the name says, with at most `most_cells` cells a side. Throws
// InputError where the file can't be written.
void draw_matrix(const std::string& path, std::span<const goal::Exchange> exchanges, goal::Rank ranks,
                 std::uint32_t most_cells);
// The content, whole or not at all. Throws InputError where the file can't be written.
void write_file(const std::string& path, const std::string& content);

}  // namespace weft::cli
