// weft sim: replay a GOAL graph on a simulated network.
#pragma once

#include "tools/weft/cli/subcommand.h"

namespace weft::cli {

void add_sim(Command& command, int& exit_code);

}  // namespace weft::cli
