#include "tools/weft/route.h"

#include "tools/weft/route_commands.h"

namespace weft::cli {

void add_route(Command& command, int& exit_code) {
  command.require_subcommand();
  add_route_show(command);
  add_route_load(command);
  add_route_check(command, exit_code);
}

}  // namespace weft::cli
