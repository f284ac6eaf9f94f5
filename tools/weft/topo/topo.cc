#include "tools/weft/topo/topo.h"

#include "tools/weft/topo/topo_commands.h"

namespace weft::cli {

void add_topo(Command& command, int& /*exit_code*/) {
  command.require_subcommand();
  command.footer("Example:\n  weft topo compare fat_tree dragonfly slim_fly --endpoints 1024");
  add_topo_gen(command);
  add_topo_info(command);
  add_topo_analyze(command);
  add_topo_compare(command);
  add_topo_cost(command);
  add_topo_draw(command);
  add_topo_export(command);
}

}  // namespace weft::cli
