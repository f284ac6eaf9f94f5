// `weft explain`: what bound a run, and what would have made it faster.
#pragma once

#include "tools/weft/cli/command.h"

namespace weft::cli {

void add_explain(Command& command, int& exit_code);

}  // namespace weft::cli
