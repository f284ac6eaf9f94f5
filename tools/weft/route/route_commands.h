// The subcommands of weft route: one file each. Each adds itself to `parent` as subcommand.h describes;
// route.cc lists them.
#pragma once

#include "tools/weft/cli/command.h"

namespace weft::cli {

void add_route_show(Command& parent);                   // route_show.cc
void add_route_load(Command& parent);                   // route_load.cc
void add_route_check(Command& parent, int& exit_code);  // route_check.cc

}  // namespace weft::cli
