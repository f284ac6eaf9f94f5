#include "tools/weft/run/export.h"

#include <fmt/core.h>

#include <memory>
#include <string>

#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "sim/units/printable.h"
#include "tools/export/timeline_export.h"
#include "tools/weft/cli/file_ending.h"

namespace weft::cli {
namespace {

// Chrome's viewer takes seconds for so many, and several times their memory.
constexpr std::uint64_t kMostRowsOfJson = 200'000;

struct ExportOptions {
  std::string run, output, format;
};

// By the file's name, unless it is said: who asks for a .json doesn't expect protobuf.
bool is_json(const ExportOptions& options) {
  if (options.format.empty()) return options.output.ends_with(".json");
  if (options.format != "json" && options.format != "protobuf") {
    throw InputError(fmt::format("--format: '{}' is neither protobuf nor json", options.format));
  }
  return options.format == "json";
}

void export_perfetto(const ExportOptions& options) {
  if (options.format.empty()) {
    refuse_ending_of_another(options.output, "a timeline is protobuf or JSON",
                             {".perfetto-trace", ".pftrace", ".pb", ".json"});
  }
  const bool json = is_json(options);
  const tools::RunDatabase run(options.run);
  const std::uint64_t rows = tools::rows_to_export(run);
  if (json && rows > kMostRowsOfJson) {
    throw InputError(
        fmt::format("{}: {} slices, messages and samples; as JSON at most {} can be written: use "
                    "--format protobuf",
                    run.path(), grouped(rows), grouped(kMostRowsOfJson)));
  }
  const auto trace =
      json ? tools::make_chrome_writer(options.output) : tools::make_perfetto_writer(options.output);
  const tools::ExportTotals totals = tools::export_timeline(run, *trace);
  fmt::print("{}: {} slices of ranks, {} messages, {} counters\n", printable(options.output),
             grouped(totals.slices), grouped(totals.messages), grouped(totals.counters));
  for (const std::string& remark : totals.remarks) fmt::print("  {}\n", printable(remark));
}

void add_perfetto(Command& parent) {
  const auto options = std::make_shared<ExportOptions>();
  Command command = parent.add_subcommand(
      "perfetto", "Write a run's timeline for Perfetto: ranks, messages, links and queues over time");
  command.add_option("RUN", options->run, "folder that weft sim … -o RUN left").required();
  command.add_option("-o,--output", options->output, "file to write").required();
  command.add_option("--format", options->format,
                     "protobuf, or json (Chrome's trace events), of at most 200,000 slices, messages and "
                     "samples; default: json where the file's name ends in .json, else protobuf");
  command.footer(
      "Open the file at https://ui.perfetto.dev (it stays on your machine), or ask it with "
      "trace_processor.\n\n"
      "Examples:\n  weft sim --goal lj.weft --topology fat_tree:k=4 --sample 10us -o RUN\n"
      "  weft export perfetto RUN -o run.perfetto-trace\n"
      "  weft export perfetto RUN -o run.json");
  command.callback([options] { export_perfetto(*options); });
}

}  // namespace

void add_export(Command& command, int& /*exit_code*/) {
  command.require_subcommand();
  command.footer("Example:\n  weft export perfetto RUN -o run.perfetto-trace");
  add_perfetto(command);
}

}  // namespace weft::cli
