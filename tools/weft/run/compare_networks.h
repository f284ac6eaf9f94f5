// `weft compare-networks`: on which of several networks applications run best, and at what price.
#pragma once

#include "tools/weft/cli/command.h"

namespace weft::cli {

void add_compare_networks(Command& command, int& exit_code);

}  // namespace weft::cli
