#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sim/units/input_error.h"
#include "tools/weft/cli/file_ending.h"
#include "tools/weft/topo/topo_commands.h"
#include "tools/weft/topo/topo_output.h"
#include "topologies/analysis/bisection.h"
#include "topologies/cost/bill.h"

namespace weft::cli {
namespace {

struct Options {
  TopologyArgument argument;
  TextOutput output;
  std::string topology, prices = topologies::price_list_names().front(), achieved, print_prices;
  std::vector<std::string> switches;
  std::uint32_t planes = 1;
  bool json = false, no_bisection = false;
};

// A share of the injection bandwidth, or what a run got.
double achieved_bps(const std::string& text, const topologies::Topology& topology, double injection_bps) {
  if (std::filesystem::is_directory(text)) {
    return topology.has_domains()
               ? topologies::between_machines_bps(topology, RunFolder::load(text, topology))
               : RunFolder::goodput_bps(text);
  }
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error != std::errc() || end != text.data() + text.size() || !(share > 0 && share <= 1)) {
    throw InputError(fmt::format(
        "--achieved is '{}', but it must be a share above 0 and up to 1, or a folder that `weft sim -o` left",
        text));
  }
  return share * injection_bps;
}

void tell_cost(const Options& options) {
  if (!options.print_prices.empty()) {
    const std::string_view text = topologies::price_list_text(options.print_prices);
    options.output.write(ReadBy::kPrograms, [&](topologies::TextSink& sink) {
      sink.print("{}", text);
      sink.finish();
    });
    return;
  }
  refuse_ending_of_another(options.output.path, options.json);
  if (options.topology.empty()) throw InputError("a topology is needed, like slim_fly:q=5");
  topologies::PriceList prices = topologies::find_price_list(options.prices);
  topologies::pin_switches(prices, options.switches);
  const topologies::Topology topology = options.argument.build(options.topology);
  const topologies::Bill bill = topologies::bill(topology, prices, options.planes);
  topologies::Worth worth;
  if (!options.no_bisection) {
    worth.bisection_bps =
        options.planes * topologies::bisection(topologies::router_graph(topology)).even_rate();
  }
  if (!options.achieved.empty())
    worth.achieved_bps = achieved_bps(options.achieved, topology, bill.injection_bps);
  options.output.write(options.json ? ReadBy::kPrograms : ReadBy::kPeople, [&](topologies::TextSink& sink) {
    sink.print("{}", options.json ? topologies::bill_json(bill, worth) : topologies::bill_table(bill, worth));
    sink.finish();
  });
}

}  // namespace

void add_topo_cost(Command& parent) {
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand("cost", "Tell what a network costs, and what power it takes");
  command.add_option("TOPOLOGY", options->topology, "NAME:key=value,…, like slim_fly:q=5");
  options->argument.add_endpoints_to(command);
  command
      .add_option(
          "--prices", options->prices,
          fmt::format("A file of prices, or one of: {}", fmt::join(topologies::price_list_names(), ", ")))
      .with_default();
  command
      .add_option("--switch", options->switches,
                  "Take this switch of the list only, like 64x400Gbps; may be given again")
      .repeated();
  command.add_option("--planes", options->planes, "Copies of the network between the same endpoints")
      .with_default()
      .positive();
  command.add_option(
      "--achieved", options->achieved,
      "Share of the injection bandwidth that was achieved, or the folder of a run, for $ per Gb/s");
  command.add_flag("--no-bisection", options->no_bisection, "Leave out the bisection, which takes longest");
  command.add_flag("--json", options->json, "A JSON object instead of a table");
  command.add_option("--print-prices", options->print_prices,
                     "Print this built-in list, to edit it, and do nothing else");
  options->output.add_to(command);
  command.footer(
      "Examples:\n  weft topo cost slim_fly --endpoints 1024\n"
      "  weft topo cost hammingmesh:a=2,b=2,x=16,y=16 --prices hammingmesh_sc22 --planes 4\n"
      "  weft topo cost --print-prices modern -o prices.txtpb");
  command.callback([options] { tell_cost(*options); });
}

}  // namespace weft::cli
