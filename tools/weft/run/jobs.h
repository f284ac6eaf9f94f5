// `weft jobs`: what a queue would make of a list of jobs.
#pragma once

#include "tools/weft/cli/command.h"

namespace weft::cli {

void add_jobs(Command& command, int& exit_code);

}  // namespace weft::cli
