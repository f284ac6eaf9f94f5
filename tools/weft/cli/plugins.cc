#include "tools/weft/cli/plugins.h"

#include "sim/plugins/load.h"

namespace weft::cli {

void add_plugin_option(Command& command) {
  command.add_each(
      "--plugin", [](const std::string& path) { sim::load_plugin(path); }, kPluginHelp);
}

}  // namespace weft::cli
