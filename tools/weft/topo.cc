#include "tools/weft/topo.h"

#include "tools/weft/topo_commands.h"

namespace weft::cli {

void add_topo(Command& command, int& /*exit_code*/) {
  command.require_subcommand();
  add_topo_gen(command);
  add_topo_info(command);
  add_topo_analyze(command);
  add_topo_compare(command);
  add_topo_cost(command);
  add_topo_draw(command);
  add_topo_export(command);
}

}  // namespace weft::cli
