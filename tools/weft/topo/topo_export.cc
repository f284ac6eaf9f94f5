#include <memory>

#include "tools/weft/cli/log.h"
#include "tools/weft/topo/topo_commands.h"
#include "tools/weft/topo/topo_output.h"
#include "topologies/export/formats.h"

namespace weft::cli {

void add_topo_export(Command& parent) {
  struct Options {
    TopologyArgument topology;
    TextOutput output;
    FormatArgument format;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand("export", "Write a network to a file for other programs");
  options->topology.add_to(command);
  options->format.add_to(command);
  options->output.add_to(command);
  command.footer(
      "Examples:\n  weft topo export slim_fly:q=5 -o slim_fly.graphml\n"
      "  weft topo export fat_tree:k=8 --format topo");
  command.callback([options] {
    const topologies::Format& format = options->format.choose(options->output.path);
    const topologies::Topology topology = options->topology.build();
    const std::string lost = topologies::lost_facts(topology, format);
    if (!lost.empty()) log::warn("lost in " + format.name + ": " + lost);
    const std::string words = options_when_read_back(options->topology.choice(), format);
    if (!words.empty()) log::warn("read back, it runs as under its own name with " + words);
    options->output.write(ReadBy::kPrograms,
                          [&](topologies::TextSink& sink) { format.write(topology, sink); });
  });
}

}  // namespace weft::cli
