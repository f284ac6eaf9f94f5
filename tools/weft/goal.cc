#include "tools/weft/goal.h"

#include <cstdio>

#include "tools/weft/goal_commands.h"

namespace weft::cli {

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void add_goal(CLI::App& app, int& exit_code) {
  app.require_subcommand(1);
  add_gen(app);
  add_info(app);
  add_check(app, exit_code);
  add_print(app);
  add_convert(app);
  add_merge(app);
  add_regroup(app);
  add_scale(app);
  add_perturb(app);
  add_slice(app);
  add_extrapolate(app);
  add_stats(app);
  add_export(app);
}

}  // namespace weft::cli
