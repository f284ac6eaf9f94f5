#include "tools/weft/goal/goal.h"

#include <cstdio>

#include "tools/weft/cli/standard_output.h"
#include "tools/weft/goal/goal_commands.h"

namespace weft::cli {

void print(const std::string& text) { print_text(text); }

void add_goal(Command& command, int& exit_code) {
  command.require_subcommand();
  command.footer("Example:\n  weft goal gen stencil:iterations=100 --ranks 64 -o halo.weft");
  add_gen(command);
  add_info(command);
  add_check(command, exit_code);
  add_print(command);
  add_convert(command);
  add_merge(command);
  add_regroup(command);
  add_scale(command);
  add_perturb(command);
  add_slice(command);
  add_extrapolate(command);
  add_stats(command);
  add_export(command);
}

}  // namespace weft::cli
