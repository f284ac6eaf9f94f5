// weft report: a page about one run, or several side by side.
#pragma once

#include "tools/weft/cli/subcommand.h"

namespace weft::cli {

void add_report(Command& command, int& exit_code);

}  // namespace weft::cli
