#include "tools/weft/run/compare_networks.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "goal/file.h"
#include "sim/results/jobs.h"
#include "sim/results/report.h"
#include "sim/results/row.h"
#include "sim/run/listed_jobs.h"
#include "sim/run/simulation.h"
#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "tools/sweep/statistics.h"
#include "tools/weft/cli/phases.h"
#include "tools/weft/cli/standard_output.h"
#include "tools/weft/run/run_control.h"
#include "topologies/cost/bill.h"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> apps, topologies, sets;
  std::string networks, fabric, network, prices = topologies::price_list_names().front(), csv;
  std::uint32_t seeds = 5;
  bool json = false;
};

// ---- Which networks ----

struct Network {
  std::string topology, prices;
};

// A network a line, "fat_tree:k=8" or "fat_tree:k=8 prices=my.txtpb"; # starts a comment.
std::vector<Network> networks_in(const std::string& path, const std::string& prices) {
  const goal::FileView file(path);
  std::vector<Network> networks;
  std::string_view rest = file.bytes();
  for (std::int64_t line = 1; !rest.empty(); ++line) {
    std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    text = text.substr(0, text.find('#'));
    std::vector<std::string> words;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of(" \t\r"), text.size());
      if (end > 0) words.emplace_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (words.empty()) continue;
    networks.push_back({words[0], prices});
    constexpr std::string_view kPrices = "prices=";
    if (words.size() == 2 && words[1].starts_with(kPrices)) {
      networks.back().prices = words[1].substr(kPrices.size());
    } else if (words.size() > 1) {
      throw InputError(SourceLocation{.file = path, .line = line},
                       fmt::format("expected a topology, then nothing or prices=FILE, not '{}'", words[1]));
    }
  }
  return networks;
}

std::vector<Network> networks_of(const Options& options) {
  std::vector<Network> networks;
  for (const std::string& topology : options.topologies) networks.push_back({topology, options.prices});
  if (!options.networks.empty()) {
    for (Network& network : networks_in(options.networks, options.prices))
      networks.push_back(std::move(network));
  }
  if (networks.size() < 2)
    throw InputError("give at least two networks to compare, with --topology or --networks");
  return networks;
}

// ---- What each does ----

struct Row {
  std::string topology, fabric, routing;
  std::vector<double> runtimes_ns;  // by seed
  sweep::Estimate runtime;
  std::set<std::string> bound_by;
  std::uint32_t hosts = 0;
  double host_bps = 0;  // of the first host's links
  std::uint64_t messages = 0, bytes = 0;
  double price = 0, watts = 0;
  std::set<std::string> warnings;
  bool tie = false;  // with the fastest
};

// Of a single run, the run itself.
double low(const Row& row) { return row.runtime.low.value_or(row.runtime.mean); }
double high(const Row& row) { return row.runtime.high.value_or(row.runtime.mean); }

bool is_tie(const Row& a, const Row& b) {
  return sweep::tie(a.runtime, b.runtime).value_or(a.runtime.mean == b.runtime.mean);
}

std::string bound_by(const results::Report& report) {
  std::string text;
  for (const results::Job& job : report.jobs) {
    if (!job.path) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", results::bound_by(report, job));
  }
  return text;
}

class Comparison {
 public:
  Comparison(const Options& options, Phases& phases)
      : options_(options), phases_(phases), registries_(sim::builtin_registries()) {}

  Row row(const Network& network) {
    Row row;
    for (std::uint32_t seed = 1; seed <= options_.seeds; ++seed) run(network, seed, row);
    row.runtime = sweep::estimate(row.runtimes_ns);
    return row;
  }

 private:
  std::vector<sim::Setting> settings(const Network& network, std::uint32_t seed) const {
    std::vector<sim::Setting> all = {{"--topology " + network.topology, "topology", network.topology},
                                     {"--seeds", "seed", std::to_string(seed)}};
    if (!options_.network.empty()) all.push_back({"--network", "network", options_.network});
    if (!options_.fabric.empty()) all.push_back({"--fabric", "fabric", options_.fabric});
    for (const std::string& app : options_.apps) all.push_back({app, "job", app});
    for (const std::string& set : options_.sets) all.push_back(sim::parse_setting(set));
    return all;
  }

  void run(const Network& network, std::uint32_t seed, Row& row) {
    phases_.enter(fmt::format("running on {} with seed {}", network.topology, seed));
    const sim::Scenario scenario =
        sim::resolve(sim::read_scenario_file(registries_, "", settings(network, seed)), registries_);
    sim::Simulation simulation(scenario);
    simulation.omit_flow_rows();
    TerminalControl control(scenario.limits, phases_, options_.json);
    const results::Report report = simulation.run(simulation.workload(), control);
    if (report.outcome != results::Outcome::kComplete) {
      throw InputError(fmt::format("on {} the run with seed {} did not come to its end: {}{}",
                                   network.topology, seed, results::name(report.outcome),
                                   report.diagnosis.empty() ? "" : "; " + report.diagnosis.front()));
    }
    if (seed == 1) describe(network, simulation, report, row);
    row.runtimes_ns.push_back(static_cast<double>(report.makespan.ps()) / 1000);
    row.bound_by.insert(bound_by(report));
    row.warnings.insert(report.warnings.begin(), report.warnings.end());
  }

  static void describe(const Network& network, const sim::Simulation& simulation,
                       const results::Report& report, Row& row) {
    const topologies::Topology& topology = *simulation.topology();
    row.topology = network.topology;
    row.fabric = report.fabric;
    row.routing = report.routing.substr(0, report.routing.find(':'));
    row.hosts = topology.hosts();
    for (const std::uint32_t channel : topology.out_channels(topology.host(0))) {
      row.host_bps += static_cast<double>(topology.channels()[channel].rate.bps());
    }
    row.messages = report.messages;
    row.bytes = report.bytes;
    const topologies::Bill bill = topologies::bill(topology, topologies::find_price_list(network.prices));
    row.price = bill.price;
    row.watts = bill.watts;
  }

  const Options& options_;
  Phases& phases_;
  const sim::Registries registries_;
};

// ---- What is told ----

// Where the networks aren't alike, said first.
std::vector<std::string> differences(const std::vector<Row>& rows) {
  std::vector<std::string> told;
  const auto compare = [&](const char* what, const std::function<std::string(const Row&)>& text) {
    std::vector<std::string> values;
    for (const Row& row : rows) values.push_back(text(row));
    if (std::ranges::all_of(values, [&](const std::string& value) { return value == values[0]; })) return;
    told.push_back(fmt::format("not alike: {}: {}", what, fmt::join(values, ", ")));
  };
  compare("endpoints", [](const Row& row) { return grouped(row.hosts); });
  compare("rate of a host, Gb/s", [](const Row& row) { return fmt::format("{:g}", row.host_bps / 1e9); });
  compare("messages", [](const Row& row) { return grouped(static_cast<double>(row.messages)); });
  compare("bytes sent", [](const Row& row) { return grouped(static_cast<double>(row.bytes)); });
  compare("fabric", [](const Row& row) { return row.fabric; });
  return told;
}

std::string name_of_cause(const Row& row) { return fmt::format("{}", fmt::join(row.bound_by, " / ")); }

Json as_json(const std::vector<Row>& rows, const std::vector<std::string>& unlike, std::uint32_t seeds) {
  Json json = {{"seeds", seeds}, {"differences", unlike}, {"rows", Json::array()}};
  std::size_t best = 0;
  for (const Row& row : rows) {
    best += row.tie ? 1 : 0;
    json["rows"].push_back({{"topology", row.topology},
                            {"fabric", row.fabric},
                            {"routing", row.routing},
                            {"endpoints", row.hosts},
                            {"runtime_ns", row.runtime.mean},
                            {"low", low(row)},
                            {"high", high(row)},
                            {"price", row.price},
                            {"power", row.watts},
                            {"price_time", row.price * row.runtime.mean / 1e9},
                            {"bound_by", name_of_cause(row)},
                            {"tie", row.tie && rows[0].tie},
                            {"warnings", row.warnings}});
  }
  json["tie"] = best > 1;
  return json;
}

std::string readable(double time_ns) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  for (const auto& [factor, unit] : kUnits) {
    if (time_ns >= factor) return fmt::format("{:.4g} {}", time_ns / factor, unit);
  }
  return fmt::format("{:.0f} ns", time_ns);
}

std::string as_text(const std::vector<Row>& rows, const std::vector<std::string>& unlike,
                    std::uint32_t seeds) {
  std::string text;
  for (const std::string& each : unlike) text += each + "\n";
  text += fmt::format("{}{:<44} {:>10} {:>23} {:>9} {:>7} {:>11}  {}\n", unlike.empty() ? "" : "\n",
                      "network", "runtime", seeds > 1 ? "95% of means" : "", "k$", "kW", "$ x s", "bound by");
  for (const Row& row : rows) {
    text += fmt::format(
        "{:<44} {:>10} {:>23} {:>9.0f} {:>7.1f} {:>11.3g}  {}{}\n", row.topology, readable(row.runtime.mean),
        seeds > 1 ? readable(low(row)) + " - " + readable(high(row)) : "", row.price / 1e3, row.watts / 1e3,
        row.price * row.runtime.mean / 1e9, name_of_cause(row), row.tie ? " (tie)" : "");
  }
  const auto ties = std::ranges::count(rows, true, &Row::tie);
  if (ties > 1) {
    text += fmt::format("\nThe first {} are a tie: between them the seed decides, not the network.\n", ties);
  } else if (rows.size() > 1) {
    text += fmt::format("\n{} is the fastest, {:.1f}% ahead of the next.\n", rows[0].topology,
                        100 * (rows[1].runtime.mean / rows[0].runtime.mean - 1));
  }
  std::set<std::string> warnings;
  for (const Row& row : rows) warnings.insert(row.warnings.begin(), row.warnings.end());
  for (const std::string& warning : warnings) text += "warning: " + warning + "\n";
  return text;
}

std::string as_csv(const std::vector<Row>& rows) {
  std::string text = "topology,fabric,routing,endpoints,runtime_ns,low_ns,high_ns,price,power,bound_by,tie\n";
  for (const Row& row : rows) {
    text += fmt::format("{},{},{},{},{:.3f},{:.3f},{:.3f},{:.2f},{:.1f},{},{}\n",
                        results::csv_field(row.topology), row.fabric, row.routing, row.hosts,
                        row.runtime.mean, low(row), high(row), row.price, row.watts,
                        results::csv_field(name_of_cause(row)), row.tie ? 1 : 0);
  }
  return text;
}

void compare(const Options& options) {
  if (options.seeds < 1) throw InputError("--seeds must be at least 1");
  const std::vector<Network> networks = networks_of(options);
  Phases phases(!options.json);
  Comparison comparison(options, phases);
  std::vector<Row> rows;
  for (const Network& network : networks) rows.push_back(comparison.row(network));
  const std::vector<std::string> unlike = differences(rows);
  std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.runtime.mean; });
  std::size_t ties = 0;
  for (const Row& row : rows) ties += is_tie(row, rows[0]) ? 1 : 0;
  for (Row& row : rows) row.tie = ties > 1 && is_tie(row, rows[0]);
  if (!options.csv.empty()) {
    goal::FileWriter file(options.csv);
    file.write(as_csv(rows));
    file.commit();
  }
  if (options.json) {
    fmt::print("{}\n",
               as_json(rows, unlike, options.seeds).dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    print_text(as_text(rows, unlike, options.seeds));
  }
}

}  // namespace

void add_compare_networks(Command& command, int& /*exit_code*/) {
  const auto options = std::make_shared<Options>();
  command
      .add_option("APP", options->apps,
                  "Applications that run side by side: a GOAL graph each, with fields of a job like "
                  "',ranks_per_node=4', or "
                  "'traffic=[NAME:…]'")
      .required();
  command.add_option("--topology", options->topologies, "A network to compare; given again for each")
      .repeated();
  command.add_option("--networks", options->networks,
                     "A file of more: a topology a line, and behind it prices=FILE where it has its own");
  command.add_option("--network", options->network, "Network model: packet (default) or flow");
  command.add_option("--fabric", options->fabric,
                     "The same for all; default: that of each family, which is told");
  command.add_option("--prices", options->prices, "List of prices, a name or a file").with_default();
  command.add_option("--seeds", options->seeds, "Runs of each, with seeds from 1 on").with_default();
  command.add_option("--set", options->sets, "FIELD=VALUE: any field of the scenario").repeated();
  command.add_option("--csv", options->csv, "Write the table here, too");
  command.add_flag("--json", options->json, "Print JSON");
  command.footer(
      "Where networks aren't alike (endpoints, rates of hosts, bytes, fabric) is said first. Networks whose "
      "mean runtime can't be told from the fastest one's (Welch's test, 95%) are a tie.\n"
      "Examples:\n"
      "  weft compare-networks app.weft --topology fat_tree:k=8 --topology dragonfly:p=2 --fabric uet\n"
      "  weft compare-networks 'traffic=[alltoall:size=1MB,ranks=64]' --networks offers.txt --network flow "
      "--json");
  command.callback([options] { compare(*options); });
}

}  // namespace weft::cli
