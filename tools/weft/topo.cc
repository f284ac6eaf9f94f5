#include "tools/weft/topo.h"

#include "tools/weft/topo_commands.h"

namespace weft::cli {

void add_topo(CLI::App& app, int& /*exit_code*/) {
  app.require_subcommand(1);
  add_topo_gen(app);
  add_topo_info(app);
  add_topo_analyze(app);
  add_topo_compare(app);
  add_topo_cost(app);
  add_topo_draw(app);
  add_topo_export(app);
}

}  // namespace weft::cli
