// weft export: results of a run as files for other programs.
#pragma once

#include "tools/weft/cli/subcommand.h"

namespace weft::cli {

void add_export(Command& command, int& exit_code);

}  // namespace weft::cli
