#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "goal/text/text.h"
#include "goal/workload/workload.h"
#include "goal/write_graph.h"
#include "sim/units/input_error.h"
#include "tools/weft/cli/log.h"
#include "tools/weft/goal/goal_commands.h"
#include "tools/weft/goal/traffic.h"

namespace weft::cli {
namespace {

constexpr const char* kStandardOutput = "-";

std::string list_of_workloads() {
  std::size_t width = 0;
  for (const goal::Workload& workload : goal::workloads()) width = std::max(width, workload.info.name.size());
  std::string text;
  for (const goal::Workload& workload : goal::workloads()) {
    text += fmt::format("{:<{}}  {}\n", workload.info.name, width, workload.info.summary);
  }
  return text;
}

// The number of ranks may be given in two places.
void settle_ranks(const goal::Workload& workload, ModuleChoice& choice, std::optional<goal::Rank> ranks) {
  const auto given = choice.given.find("ranks");
  if (!ranks.has_value()) {
    if (given == choice.given.end() || given->second == "0") {
      const goal::Rank own =
          workload.own_ranks == nullptr ? 0 : workload.own_ranks(Parameters(workload.info, choice));
      if (own > 0) {
        choice.given["ranks"] = fmt::format("{}", own);
        return;
      }
      throw InputError(
          "--ranks: there is no topology whose hosts could be counted; give the number of ranks");
    }
  } else if (given == choice.given.end()) {
    choice.given["ranks"] = fmt::format("{}", *ranks);
  } else if (given->second != fmt::format("{}", *ranks)) {
    throw InputError(
        fmt::format("--ranks {}: the workload says ranks={}; give it once", *ranks, given->second));
  }
}

void print_summary(const goal::Graph& graph, const std::string& path) {
  const Traffic traffic = traffic_of(graph);
  print(fmt::format(
      "{}: {} ranks, {} operations, {} dependencies; {:.1f} MB in memory\n"
      "  messages     {} ({:.3f} MB)\n"
      "  collectives  {}\n",
      path, graph.ranks(), graph.ops(), graph.edges(), static_cast<double>(graph.memory_bytes()) * 1e-6,
      traffic.messages, traffic.bytes * 1e-6, traffic.collectives));
}

void generate(const std::string& text, std::optional<goal::Rank> wanted, std::uint64_t seed,
              const std::string& output) {
  const bool to_screen = output == kStandardOutput;
  // Before the work, not after.
  const goal::Format format = to_screen ? goal::Format::kText : goal::format_of_path(output);
  ModuleChoice choice = parse_module_choice(text);
  const goal::Workload& workload = find_module(goal::workloads(), choice, "workload");
  settle_ranks(workload, choice, wanted);
  const Parameters parameters(workload.info, choice);
  const std::int64_t ranks = parameters.integer("ranks");
  if (ranks < 1 || ranks > INT32_MAX) parameters.fail("ranks", "it must be from 1 to 2147483647");
  const goal::Graph graph = workload.generate(parameters, static_cast<goal::Rank>(ranks), seed);
  if (workload.remarks != nullptr) {
    for (const std::string& remark : workload.remarks(parameters, graph.ranks()))
      log::warn("note: " + remark);
  }
  if (to_screen) {
    return goal::print_text(graph,
                            [](std::string_view part) { std::fwrite(part.data(), 1, part.size(), stdout); });
  }
  goal::PackInfo info;
  info.metadata["generated"] = to_short_form(workload.info.name, parameters);
  info.metadata["seed"] = fmt::format("{}", seed);
  goal::add_facts(workload, parameters, graph.ranks(), info.metadata);
  goal::write_graph(graph, info, output, format);
  print_summary(graph, output);
}

}  // namespace

void add_gen(Command& parent) {
  struct Options {
    std::string workload, output;
    std::optional<goal::Rank> ranks;
    std::uint64_t seed = 1;
    bool list = false;
  };
  const auto options = std::make_shared<Options>();
  Command command =
      parent.add_subcommand("gen", "Make a graph without a trace: collectives, stencils, sweeps, patterns …");
  command.add_option("WORKLOAD", options->workload,
                     "NAME or NAME:key=value,…; 'weft describe NAME' has its parameters");
  command.add_option("--ranks", options->ranks, "Number of ranks").range(1, INT32_MAX);
  command.add_option("--seed", options->seed, "For workloads that draw at random (1)");
  command.add_option("-o,--output", options->output,
                     "The graph: NAME.weft (packed), NAME.goal (text) or NAME.bin; - prints text");
  command.add_flag("--list", options->list, "Only list the workloads");
  command.footer(
      "Examples:\n"
      "  weft goal gen --list\n"
      "  weft goal gen stencil:dims=[8,8,8],iterations=100,compute=2ms,allreduce=10 --ranks 512 -o "
      "halo.weft\n"
      "  weft goal gen collective:kind=allreduce,size=64MB,iterations=50 --ranks 128 -o training.weft\n"
      "  weft goal gen ping_pong:sizes=[8B,1MB] --ranks 2 -o -");
  command.callback([options] {
    if (options->list) return print(list_of_workloads());
    if (options->workload.empty()) {
      throw InputError("weft goal gen: WORKLOAD is required; 'weft goal gen --list' names all of them");
    }
    if (options->output.empty()) throw InputError("weft goal gen: -o is required: the file to write, or -");
    generate(options->workload, options->ranks, options->seed, options->output);
  });
}

}  // namespace weft::cli
