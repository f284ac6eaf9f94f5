#include <memory>
#include <string>
#include <vector>

#include "goal/read_graph.h"
#include "goal/transform/plain.h"
#include "sim/units/input_error.h"
#include "tools/weft/goal/goal_commands.h"
#include "tools/weft/goal/goal_expand.h"
#include "tools/weft/goal/goal_output.h"

namespace weft::cli {

void add_export(Command& parent) {
  struct Options {
    std::string file;
    ExpandOption expand;
    GraphOutput output;
    bool chakra = false;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand(
      "export",
      "Plain GOAL, which every GOAL tool reads: sends, receives, calcs, no communicators; or Chakra");
  command.add_option("FILE", options->file, "A GOAL graph: packed, text or binary").required();
  command.add_flag("--chakra", options->chakra,
                   "Chakra execution traces, X.et: a file per rank, X.0.et …; collectives and groups stay");
  options->expand.add_options(command);
  options->output.add_options(command);
  command.footer(
      "Tags of the world stay; other communicators and collectives get tags of their own behind them.\n"
      "Examples:\n"
      "  weft goal export lj.weft --expand --algorithm allreduce=ring -o lj.bin\n"
      "  weft goal export lj.weft --chakra -o lj.et");
  command.callback([options, command] {
    if (options->chakra && options->output.to.empty()) options->output.to = "chakra";
    const goal::Format format = options->output.format();
    if (options->chakra && format != goal::Format::kChakra) {
      throw InputError("--chakra and --to " + options->output.to + " ask for different formats");
    }
    goal::PackInfo info;
    std::vector<goal::Anomaly> anomalies;
    const goal::Graph spelled_out = options->expand.apply(goal::read_graph(options->file, &info), info);
    if (format == goal::Format::kChakra) return options->output.write(spelled_out, info);
    const goal::Graph plain = goal::fold_communicators(spelled_out, &anomalies);
    record(info, command, anomalies);
    options->output.write(plain, info);
  });
}

}  // namespace weft::cli
