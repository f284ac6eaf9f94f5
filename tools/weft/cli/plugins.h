// The option by which a command takes plug-ins.
#pragma once

#include "tools/weft/cli/command.h"

namespace weft::cli {

inline constexpr const char* kPluginHelp =
    "shared object with modules of your own (examples/my_congestion_control); may be given again";
// --plugin FILE: its modules are there when the command's callback runs.
void add_plugin_option(Command& command);

}  // namespace weft::cli
