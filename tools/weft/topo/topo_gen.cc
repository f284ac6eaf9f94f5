#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <string>

#include "sim/units/input_error.h"
#include "tools/weft/topo/topo_commands.h"
#include "tools/weft/topo/topo_info.h"
#include "tools/weft/topo/topo_output.h"
#include "topologies/export/formats.h"

namespace weft::cli {

void add_topo_gen(Command& parent) {
  struct Options {
    TopologyArgument topology;
    FormatArgument format;
    std::string path;
  };
  const auto options = std::make_shared<Options>();
  Command command =
      parent.add_subcommand("gen", "Build a network, say what was chosen, and write it to a file");
  options->topology.add_to(command);
  command.add_option("-o,--output", options->path, "Write the network here; without it nothing is written");
  options->format.add_to(command);
  command.footer(
      "Examples:\n"
      "  weft topo gen dragonfly --endpoints 1024\n"
      "  weft topo gen slim_fly:q=5 -o slim_fly.graphml\n"
      "weft topo export writes the same files, to the standard output too; graph_file:file=slim_fly.graphml "
      "reads\n"
      "them back.");
  command.callback([options] {
    if (options->path.empty() && options->format.given()) {
      throw InputError("--format is given, but no file to write: add -o FILE");
    }
    const bool writes = !options->path.empty();
    const topologies::Format* const format = writes ? &options->format.choose(options->path) : nullptr;
    const topologies::Topology topology = options->topology.build();
    std::string text = topology_text(topology);
    if (writes) {
      TextOutput{options->path}.write(ReadBy::kPrograms,
                                      [&](topologies::TextSink& sink) { format->write(topology, sink); });
      text += fmt::format("{:<15} {}, as {}\n", "written", options->path, format->name);
      const std::string lost = topologies::lost_facts(topology, *format);
      if (!lost.empty()) text += fmt::format("{:<15} {}\n", "lost in it", lost);
      const std::string words = options_when_read_back(options->topology.choice(), *format);
      if (!words.empty()) {
        text += fmt::format("{:<15} read back, it runs as under its own name with {}\n", "", words);
      }
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
  });
}

}  // namespace weft::cli
