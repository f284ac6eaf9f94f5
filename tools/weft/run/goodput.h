// `weft goodput`: how far training gets in a month, with failures.
#pragma once

#include "tools/weft/cli/command.h"

namespace weft::cli {

void add_goodput(Command& command, int& exit_code);

}  // namespace weft::cli
