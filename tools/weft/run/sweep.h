// weft sweep: runs a scenario with many values of its fields and many seeds.
#pragma once

#include "tools/weft/cli/command.h"

namespace weft::cli {

void add_sweep(Command& command, int& exit_code);

}  // namespace weft::cli
