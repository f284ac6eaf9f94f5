// Messages that quote what someone else wrote, made fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// The message in one line of moderate length that holds nothing a terminal would obey: control characters,
// marks that turn the direction of writing, and what is not UTF-8 appear byte by byte as \xNN. A piece in
// 'quotes' of more than 80 bytes is cut, "'beginning…' (12345 bytes)", and so is the middle of a message of
// more than 500. Applying it twice changes nothing.
std::string printable(std::string_view message);

// A text of several lines, whole: the same with newlines and tabs kept, and nothing cut.
std::string printable_text(std::string_view text);

}  // namespace weft
