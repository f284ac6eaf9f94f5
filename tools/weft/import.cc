#include "tools/weft/import.h"

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <string>

#include "goal/import/mpi/importer.h"
#include "goal/pack/pack.h"
#include "goal/write_graph.h"
#include "sim/units/input_error.h"
#include "sim/units/quantity.h"
#include "tools/weft/traffic.h"

namespace weft::cli {
namespace {

void print_summary(const goal::Graph& graph, const goal::PackInfo& info, const std::string& path) {
  const Traffic traffic = traffic_of(graph);
  const auto found = info.metadata.find("traced_elapsed_ns");
  const double elapsed = found == info.metadata.end() ? 0 : std::stod(found->second) * 1e-9;
  std::printf("%s", fmt::format("{}: {} ranks, {} operations, {} dependencies\n"
                                "  messages     {} ({:.3f} MB)\n"
                                "  collectives  {} ({:.1f} a rank)\n"
                                "  traced       {:.3f} s from MPI_Init to MPI_Finalize\n",
                                path, graph.ranks(), graph.ops(), graph.edges(), traffic.messages,
                                traffic.bytes * 1e-6, traffic.collectives,
                                static_cast<double>(traffic.collectives) / graph.ranks(), elapsed)
                        .c_str());
  for (const goal::Anomaly& anomaly : info.anomalies) {
    const std::string severity(goal::name(anomaly.severity));
    std::printf("  %-12s %s: %llu. %s\n", severity.c_str(), anomaly.name.c_str(),
                static_cast<unsigned long long>(anomaly.count), anomaly.sentence.c_str());
  }
}

std::uint64_t poll_gap_ns(const std::string& text) {
  try {
    return static_cast<std::uint64_t>(parse_time(text).ps() / 1000);
  } catch (const InputError& error) {
    throw InputError(SourceLocation{.file = "--poll-gap"}, error.what());
  }
}

void add_mpi(Command& parent) {
  struct Options {
    std::string directory, output, poll_gap = "5us";
    bool keep_wildcards = false, partial = false;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand("mpi", "Traces of an MPI program, as 'weft trace' writes them");
  command.add_option("DIR", options->directory, "The directory that 'weft trace -o' wrote").required();
  command
      .add_option("-o,--output", options->output,
                  "The graph: NAME.weft (packed), NAME.goal (text) or NAME.bin")
      .required();
  command.add_flag(
      "--keep-wildcards", options->keep_wildcards,
      "Keep MPI_ANY_SOURCE and MPI_ANY_TAG; by default the source and tag received stand in their place");
  command.add_flag("--partial", options->partial,
                   "Take ranks whose trace was cut, each up to where it ends; messages may lack partners");
  command.add_option(
      "--poll-gap", options->poll_gap,
      "Longest time from a Test or Iprobe in vain to the next that is waiting, not compute (5us)");
  command.callback([options] {
    const goal::Format format = goal::format_of_path(options->output);  // before the work, not after
    const goal::MpiImportOptions import_options{.keep_wildcards = options->keep_wildcards,
                                                .partial = options->partial,
                                                .poll_gap_ns = poll_gap_ns(options->poll_gap)};
    goal::PackInfo info;
    const goal::Graph graph = goal::import_mpi(options->directory, import_options, &info);
    goal::write_graph(graph, info, options->output, format);
    print_summary(graph, info, options->output);
  });
}

}  // namespace

void add_import(Command& command, int&) {
  command.require_subcommand();
  add_mpi(command);
}

}  // namespace weft::cli
