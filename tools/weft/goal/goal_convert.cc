#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "goal/read_graph.h"
#include "goal/text/text.h"
#include "goal/write_graph.h"
#include "sim/units/input_error.h"
#include "tools/weft/cli/log.h"
#include "tools/weft/goal/goal_commands.h"
#include "tools/weft/goal/goal_output.h"

namespace weft::cli {

void add_print(Command& parent) {
  struct Options {
    std::string file;
    std::optional<goal::Rank> rank;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand("print", "Write a graph as GOAL text to the standard output");
  command.add_option("FILE", options->file, "A GOAL graph: packed, text or binary").required();
  command.add_option("--rank", options->rank, "Only this rank's block");
  command.footer("Example:\n  weft goal print lj.weft --rank 0");
  command.callback([options] {
    const auto graph = goal::open_ranks(options->file);
    const auto sink = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
    if (!options->rank) return goal::print_text(*graph, sink);
    if (*options->rank >= graph->ranks()) {
      throw InputError(fmt::format("--rank {}: {} has {} ranks, counted from 0", *options->rank,
                                   options->file, graph->ranks()));
    }
    goal::print_rank(*graph, *options->rank, sink);
  });
}

void add_convert(Command& parent) {
  struct Options {
    std::string in, out, to;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand("convert", "Write a graph in another format");
  command.add_option("IN", options->in, "A GOAL graph: packed, text or binary").required();
  command
      .add_option("OUT", options->out,
                  "The file to write: .weft packed, .goal text, .bin binary GOAL, .et Chakra")
      .required();
  command.add_option("--to", options->to, "The format, whatever the name: pack, text, binary or chakra");
  command.footer("Example:\n  weft goal convert lj.weft lj.goal");
  command.callback([options] {
    const goal::Format format =
        options->to.empty() ? goal::format_of_path(options->out) : goal::format_of_name(options->to);
    goal::PackInfo info;
    const auto graph = goal::open_ranks(options->in, &info);
    goal::write_graph(*graph, info, options->out, format);
    if (format != goal::Format::kPack && info != goal::PackInfo()) {
      log::warn("note: only packed graphs keep metadata and anomaly counters; " + options->out + " has none");
    }
    warn_if_lost(info, format, options->out);
  });
}

}  // namespace weft::cli
