#include <fmt/format.h>

#include <memory>
#include <string>

#include "tools/weft/topo_commands.h"
#include "tools/weft/topo_output.h"
#include "topologies/export/formats.h"

namespace weft::cli {

void add_topo_export(CLI::App& parent) {
  struct Options {
    TopologyArgument topology;
    TextOutput output;
    std::string format = "graphml";
  };
  const auto options = std::make_shared<Options>();
  CLI::App* app = parent.add_subcommand("export", "Write a network to a file for other programs");
  options->topology.add_to(*app);
  std::string names;
  for (const topologies::Format& format : topologies::formats()) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", format.name, format.summary);
  }
  app->add_option("--format", options->format, names)->capture_default_str();
  options->output.add_to(*app);
  app->footer(
      "Examples:\n  weft topo export slim_fly:q=5 -o slim_fly.graphml\n"
      "  weft topo export fat_tree:k=8 --format topo -o fat_tree.topo");
  app->callback([options] {
    const topologies::Format& format = topologies::find_format(options->format);
    const topologies::Topology topology = options->topology.build();
    options->output.write([&](topologies::TextSink& sink) { format.write(topology, sink); });
  });
}

}  // namespace weft::cli
