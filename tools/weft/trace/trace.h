// weft trace: run a command and trace the MPI program in it.
#pragma once

#include "tools/weft/cli/subcommand.h"

namespace weft::cli {

void add_trace(Command& command, int& exit_code);

}  // namespace weft::cli
