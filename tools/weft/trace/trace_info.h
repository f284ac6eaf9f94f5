// `weft trace info`: what a folder of MPI traces holds, and where each rank is.
#pragma once

#include "tools/weft/cli/command.h"

namespace weft::cli {

void add_trace_info(Command& parent);

}  // namespace weft::cli
