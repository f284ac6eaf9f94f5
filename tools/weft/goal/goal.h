// weft goal: makes, looks at, checks, converts and changes GOAL graphs, in any of their formats.
#pragma once

#include "tools/weft/cli/command.h"

namespace weft::cli {

void add_goal(Command& command, int& exit_code);

}  // namespace weft::cli
