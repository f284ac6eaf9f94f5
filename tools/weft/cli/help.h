// The text of --help.
#pragma once

#include <cstddef>
#include <string>

#include "tools/weft/cli/command_tree.h"

namespace weft::cli {

// `full_name`: with the commands it is part of, "weft goal info". Lines are `width` columns wide at most.
std::string help_text(const CommandEntry& command, const std::string& full_name, std::size_t width);

// "weft goal info [OPTIONS] FILE"
std::string usage_line(const CommandEntry& command, const std::string& full_name);
// "-o, --output TEXT", "FILE..."
std::string option_heading(const OptionEntry& option);
// Its help, with what is required, the default and what it can't stand beside.
std::string option_text(const OptionEntry& option);

}  // namespace weft::cli
