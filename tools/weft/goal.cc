#include "tools/weft/goal.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "goal/text/text.h"
#include "sim/units/input_error.h"

namespace weft::cli {
namespace {

void add_print(CLI::App& goal) {
  struct Options {
    std::string file;
    std::optional<goal::Rank> rank;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* app = goal.add_subcommand("print", "Write a graph as GOAL text to the standard output");
  app->add_option("FILE", options->file, "A GOAL graph")->required();
  app->add_option("--rank", options->rank, "Only this rank's block");
  app->callback([options] {
    const goal::Graph graph = goal::read_text_file(options->file);
    const auto sink = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
    if (!options->rank) return goal::print_text(graph, sink);
    if (*options->rank >= graph.ranks()) {
      throw InputError("--rank " + std::to_string(*options->rank) + ": the graph has " +
                       std::to_string(graph.ranks()) + " ranks");
    }
    goal::print_rank(graph, *options->rank, sink);
  });
}

}  // namespace

void add_goal(CLI::App& app, int& exit_code) {
  app.require_subcommand(1);
  add_print(app);
  (void)exit_code;
}

}  // namespace weft::cli
