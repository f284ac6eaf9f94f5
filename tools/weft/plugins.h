// The option by which a command takes plug-ins.
#pragma once

#include "tools/weft/command.h"

namespace weft::cli {

// --plugin FILE: its modules are there when the command's callback runs.
void add_plugin_option(Command& command);

}  // namespace weft::cli
