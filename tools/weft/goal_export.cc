#include <memory>
#include <string>
#include <vector>

#include "goal/read_graph.h"
#include "goal/transform/plain.h"
#include "tools/weft/goal_commands.h"
#include "tools/weft/goal_expand.h"
#include "tools/weft/goal_output.h"

namespace weft::cli {

void add_export(Command& parent) {
  struct Options {
    std::string file;
    ExpandOption expand;
    GraphOutput output;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand(
      "export", "Plain GOAL, which every GOAL tool reads: sends, receives, calcs, no communicators");
  command.add_option("FILE", options->file, "A GOAL graph: packed, text or binary").required();
  options->expand.add_options(command);
  options->output.add_options(command);
  command.footer(
      "Tags of the world stay; other communicators and collectives get tags of their own behind them.\n"
      "Example: weft goal export lj.weft --expand --algorithm allreduce=ring -o lj.bin");
  command.callback([options, command] {
    options->output.format();
    goal::PackInfo info;
    std::vector<goal::Anomaly> anomalies;
    const goal::Graph spelled_out = options->expand.apply(goal::read_graph(options->file, &info));
    const goal::Graph plain = goal::fold_communicators(spelled_out, &anomalies);
    record(info, command, anomalies);
    options->output.write(plain, info);
  });
}

}  // namespace weft::cli
