#include "tools/weft/run/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "goal/file.h"
#include "tools/report/page.h"
#include "tools/weft/cli/file_ending.h"
#include "tools/weft/cli/plugins.h"
#include "topologies/cost/price_list.h"

namespace weft::cli {

void add_report(Command& command, int&) {
  struct Options {
    std::vector<std::string> runs, names;
    bool allow_files = false;
    std::string output = "report.html", prices = topologies::price_list_names().front();
  };
  const auto options = std::make_shared<Options>();
  command
      .add_option("RUN", options->runs, "Folders that `weft sim … -o RUN` left; several are set side by side")
      .required();
  command
      .add_option("--name", options->names,
                  "What a run is called on the page, in place of its folder's name; once for each, in order")
      .repeated();
  command.add_option("-o,--output", options->output, "The page, one HTML file").with_default();
  command
      .add_option("--prices", options->prices,
                  fmt::format("What the network's cost is taken from: a file of prices, or one of: {}",
                              fmt::join(topologies::price_list_names(), ", ")))
      .with_default();
  command.add_flag("--allow-files", options->allow_files,
                   "Read files outside of the runs' folders that their scenarios name, like networks");
  add_plugin_option(command);
  command.footer(
      "One HTML file of at most 10 MB, with everything in it: any browser opens it, without a network.\n"
      "Larger runs are sampled or added up; the page says how.\n\n"
      "Examples:\n  weft report lj_packet -o lj.html\n"
      "  weft report fat_tree dragonfly slim_fly -o networks.html  # differences first\n"
      "  weft report a b --name \"8 to 1\" --name \"4 to 1\" -o tapering.html\n"
      "  weft report RUN --prices quotes.txtpb -o report.html");
  command.callback([options] {
    refuse_ending_of_another(options->output, "a report is one page of HTML", {".html", ".htm"});
    if (!options->names.empty() && options->names.size() != options->runs.size()) {
      throw InputError({"--name"},
                       fmt::format("there are {} names and {} runs; expected one for each, in their order",
                                   options->names.size(), options->runs.size()));
    }
    const topologies::PriceList prices = topologies::find_price_list(options->prices);
    goal::FileWriter file(options->output);
    file.write(report::make_page(options->runs, prices, report::kMostBytes,
                                 options->allow_files ? report::Files::kAnywhere : report::Files::kInFolder,
                                 options->names));
    file.commit();
  });
}

}  // namespace weft::cli
