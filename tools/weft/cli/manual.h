// weft manual: manual pages of all commands, made of what their help tells, and the reference (reference.h).
#pragma once

#include <string>

#include "tools/weft/cli/command_tree.h"
#include "tools/weft/cli/subcommand.h"

namespace weft::cli {

// `tree`: gives the whole command line when the manual is asked for.
void add_manual(Command& command, std::function<CommandEntry()> tree);

// A page in the man macros (man(7)). `name`: "weft-goal-gen"; `others`: pages to see also.
std::string manual_page(const CommandEntry& command, const std::string& full_name,
                        const std::vector<std::string>& others);

}  // namespace weft::cli
