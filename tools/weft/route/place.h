// weft place: where jobs' ranks would go, and what that comes to, before any simulation.
#pragma once

#include "tools/weft/cli/subcommand.h"

namespace weft::cli {

void add_place(Command& command, int& exit_code);

}  // namespace weft::cli
