#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>

#include "sim/units/input_error.h"
#include "tools/weft/topo_commands.h"
#include "tools/weft/topo_output.h"
#include "topologies/draw/picture.h"

namespace weft::cli {

void add_topo_draw(Command& parent) {
  struct Options {
    TopologyArgument argument;
    TextOutput output;
    std::string topology, arrangement = "auto", run;
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
  options->output.add_to(command);
  command.footer(
      "Examples:\n  weft topo draw dragonfly:p=2 -o dragonfly.svg\n"
      "  weft sim --traffic permutation:size=1MB --topology fat_tree:k=8 -o RUN && weft topo draw --load RUN "
      "-o "
      "load.svg");
  command.callback([options] {
    topologies::PictureOptions picture;
    picture.arrangement = topologies::find_arrangement(options->arrangement);
    std::string text = options->topology;
    if (text.empty()) {
      if (options->run.empty()) throw InputError("a topology, like slim_fly:q=5, or --load RUN is needed");
      text = RunFolder::topology(options->run);
    }
    const topologies::Topology topology = options->argument.build(text);
    if (!options->run.empty()) {
      picture.load = RunFolder::load(options->run, topology);
      picture.load_title = "busy, in the busier direction";
    }
    options->output.write(
        [&](topologies::TextSink& sink) { topologies::write_svg(topology, picture, sink); });
  });
}

}  // namespace weft::cli
