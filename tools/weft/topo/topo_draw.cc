#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>

#include "sim/units/input_error.h"
#include "sim/units/used_files.h"
#include "tools/weft/cli/file_ending.h"
#include "tools/weft/topo/topo_commands.h"
#include "tools/weft/topo/topo_output.h"
#include "topologies/draw/picture.h"

namespace weft::cli {
namespace {

// What a run says of its network may name any file: who made the run need not be who draws it.
topologies::Topology network_of(const std::string& run, const TopologyArgument& argument, bool allow_files) {
  const std::string text = RunFolder::topology(run);
  const ForeignPaths foreign(allow_files ? "" : run);
  try {
    return argument.build(text);
  } catch (const InputError& error) {
    if (foreign.read().empty()) throw;
    throw InputError(
        fmt::format("{}: the run's network needs {}, which is outside of its folder (--allow-files "
                    "reads it nevertheless) or no file of a network",
                    run, foreign.read()));
  }
}

}  // namespace

void add_topo_draw(Command& parent) {
  struct Options {
    TopologyArgument argument;
    TextOutput output;
    std::string topology, arrangement = "auto", run;
    bool allow_files = false;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand("draw", "Draw a network as SVG");
  command.add_option("TOPOLOGY", options->topology,
                     "NAME:key=value,…, like slim_fly:q=5; with --load it may be left out");
  options->argument.add_endpoints_to(command);
  command
      .add_option("--layout", options->arrangement,
                  fmt::format("{}", fmt::join(topologies::arrangement_names(), ", ")))
      .with_default();
  command.add_option(
      "--load", options->run,
      "A folder that `weft sim -o` left: colour links by the share of the time they were busy");
  command.add_flag("--allow-files", options->allow_files,
                   "With --load: read a file of the network outside of that folder");
  options->output.add_to(command);
  command.footer(
      "Examples:\n  weft topo draw dragonfly:p=2 -o dragonfly.svg\n"
      "  weft sim --traffic permutation:size=1MB --topology fat_tree:k=8 -o RUN && weft topo draw --load RUN "
      "-o "
      "load.svg");
  command.callback([options] {
    refuse_ending_of_another(options->output.path, "pictures are SVG", {".svg"});
    topologies::PictureOptions picture;
    picture.arrangement = topologies::find_arrangement(options->arrangement);
    const std::string& text = options->topology;
    if (text.empty() && options->run.empty()) {
      throw InputError("a topology, like slim_fly:q=5, or --load RUN is needed");
    }
    const topologies::Topology topology =
        text.empty() ? network_of(options->run, options->argument, options->allow_files)
                     : options->argument.build(text);
    if (!options->run.empty()) {
      picture.load = RunFolder::load(options->run, topology);
      picture.load_title = "busy, in the busier direction";
    }
    options->output.write(ReadBy::kPrograms, [&](topologies::TextSink& sink) {
      topologies::write_svg(topology, picture, sink);
    });
  });
}

}  // namespace weft::cli
