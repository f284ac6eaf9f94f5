#include "tools/weft/route/route.h"

#include "tools/weft/route/route_commands.h"

namespace weft::cli {

void add_route(Command& command, int& exit_code) {
  command.require_subcommand();
  command.footer("Example:\n  weft route show --topology dragonfly:p=2 --routing ugal --from 0 --to 71");
  add_route_show(command);
  add_route_load(command);
  add_route_check(command, exit_code);
}

}  // namespace weft::cli
