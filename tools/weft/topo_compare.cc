#include <memory>
#include <string>
#include <vector>

#include "tools/weft/topo_analysis.h"
#include "tools/weft/topo_commands.h"
#include "topologies/analysis/report.h"

namespace weft::cli {

void add_topo_compare(CLI::App& parent) {
  struct Options {
    TopologyArgument sizes;
    std::vector<std::string> topologies;
    AnalysisArguments analysis;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* app = parent.add_subcommand("compare", "Measure several networks and show them side by side");
  app->add_option("TOPOLOGY", options->topologies,
                  "NAME:key=value,…, one or more; `weft list topology` names all")
      ->required();
  options->sizes.add_endpoints_to(*app);
  options->analysis.add_to(*app);
  app->footer(
      "Example: weft topo compare fat_tree slim_fly dragonfly --endpoints 1024\n"
      "Path diversity and resilience are in --json; weft topo analyze shows them for one network.");
  app->callback([options] {
    const topologies::AnalysisOptions wanted = options->analysis.options();
    std::vector<topologies::Topology> networks;  // all, so that a bad one is told before the work
    for (const std::string& text : options->topologies) networks.push_back(options->sizes.build(text));
    std::vector<topologies::Analysis> analyses;
    for (const topologies::Topology& network : networks) {
      analyses.push_back(topologies::analyze(network, wanted));
    }
    options->analysis.write(options->analysis.json() ? topologies::comparison_json(analyses)
                                                     : topologies::comparison_text(analyses));
  });
}

}  // namespace weft::cli
