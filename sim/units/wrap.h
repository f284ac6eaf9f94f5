// Long lines for people: broken between words where a terminal would break them anywhere.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft {

// Columns that a UTF-8 text takes on a terminal, a character each.
std::size_t columns(std::string_view text);

// The text with every line broken between words so that it takes `width` columns at most; a single word may
// take more, unless it can be broken behind a comma. The rest of a line goes below where its text began:
// behind the label of "label    text" (two blanks or more between) as far as that leaves half of the width,
// else as far in as the line. A line that is a command ("  weft …" or "  $ …", with single blanks) is
// continued with a backslash, never within quotes or between an option and its value, so that it can be
// copied. 0 changes nothing.
std::string wrap(std::string_view text, std::size_t width);

// Columns to wrap at: those of the terminal behind a descriptor (1: standard output); 0 if there is none.
std::size_t terminal_columns(int descriptor);

}  // namespace weft
