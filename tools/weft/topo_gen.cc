#include <cstdio>
#include <memory>
#include <string>

#include "tools/weft/topo_commands.h"
#include "tools/weft/topo_info.h"

namespace weft::cli {

void add_topo_gen(CLI::App& parent) {
  const auto argument = std::make_shared<TopologyArgument>();
  CLI::App* app =
      parent.add_subcommand("gen", "Build a network, say what was chosen, and write it to a file");
  argument->add_to(*app);
  app->callback([argument] {
    const std::string text = topology_text(argument->build());
    std::fwrite(text.data(), 1, text.size(), stdout);
  });
}

}  // namespace weft::cli
