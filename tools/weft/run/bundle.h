// weft bundle, weft verify: a run packed with all that it was made from, and made again from that.
#pragma once

#include "tools/weft/cli/command.h"

namespace weft::cli {

void add_bundle(Command& command, int& exit_code);
void add_verify(Command& command, int& exit_code);

}  // namespace weft::cli
