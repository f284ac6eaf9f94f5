// weft topo: networks without a simulation: what they are, what they can do, what they cost, how they look.
#pragma once

#include "tools/weft/cli/subcommand.h"

namespace weft::cli {

void add_topo(Command& command, int& exit_code);

}  // namespace weft::cli
