// `weft nccl`: what NCCL would do.
#pragma once

#include "tools/weft/cli/command.h"

namespace weft::cli {

void add_nccl(Command& command, int& exit_code);

}  // namespace weft::cli
