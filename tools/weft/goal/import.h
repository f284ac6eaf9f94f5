// weft import: turn traces into a GOAL graph.
#pragma once

#include "tools/weft/cli/subcommand.h"

namespace weft::cli {

void add_import(Command& command, int& exit_code);

}  // namespace weft::cli
