// weft route: what a routing policy does to a network, told without a simulation.
#pragma once

#include "tools/weft/cli/subcommand.h"

namespace weft::cli {

void add_route(Command& command, int& exit_code);

}  // namespace weft::cli
