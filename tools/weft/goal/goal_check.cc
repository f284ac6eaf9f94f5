#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>

#include "goal/check/check.h"
#include "sim/units/printable.h"
#include "tools/weft/cli/subcommand.h"
#include "tools/weft/goal/goal_commands.h"

namespace weft::cli {

void add_check(Command& parent, int& exit_code) {
  struct Options {
    std::string file;
    std::uint32_t examples = static_cast<std::uint32_t>(goal::CheckOptions().examples);
  };
  const auto options = std::make_shared<Options>();
  Command command =
      parent.add_subcommand("check", "Find unmatched messages, cycles and disagreeing collectives");
  command.add_option("FILE", options->file, "A GOAL graph: packed, text or binary").required();
  command.add_option("--examples", options->examples, "How many findings of each kind to show")
      .with_default();
  command.footer(
      "Exit status: 0 if nothing worse than warnings was found, else 2.\n"
      "Example:\n  weft goal check lj.weft");
  command.callback([options, &exit_code] {
    const goal::Report report =
        goal::check_file(options->file, {.examples = std::max(1u, options->examples)});
    const std::string file = printable(options->file);
    for (const goal::Finding& finding : report.findings) {
      print(fmt::format("{}: {}: {}: {}\n", file, goal::name(goal::severity(finding.kind)),
                        goal::name(finding.kind), printable(finding.sentence)));
    }
    for (std::size_t kind = 0; kind < goal::kFindingKinds; ++kind) {
      if (report.counts[kind] == 0) continue;
      print(fmt::format("{}: {}: {} in all\n", file, goal::name(static_cast<goal::FindingKind>(kind)),
                        report.counts[kind]));
    }
    if (report.not_replayed.any()) {
      print(fmt::format("{}: warning: not_replayed: {}\n", file,
                        printable(goal::sentence(report.not_replayed))));
    }
    for (const std::string& sentence : report.compute_times_warnings) {
      print(fmt::format("{}: warning: compute_times: {}\n", file, printable(sentence)));
    }
    if (report.clean()) {
      print(fmt::format("{}: {} ({} ranks, {} operations)\n", file,
                        report.not_replayed.any() ? "sound, but not all of the program" : "sound",
                        report.ranks, report.ops));
    }
    if (report.has_errors()) exit_code = kBadInput;
  });
}

}  // namespace weft::cli
