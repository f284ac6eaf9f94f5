#include "tools/weft/run/compare_networks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "goal/file.h"
#include "goal/program.h"
#include "goal/workload/workload.h"
#include "sim/run/listed_jobs.h"
#include "sim/run/simulation.h"
#include "sim/units/input_error.h"
#include "sim/units/input_file.h"
#include "tools/sweep/plan.h"
#include "tools/sweep/tables.h"
#include "tools/weft/cli/file_ending.h"
#include "tools/weft/cli/log.h"
#include "tools/weft/cli/standard_output.h"
#include "tools/weft/cli/subcommand.h"
#include "tools/weft/run/network_rows.h"
#include "tools/weft/run/sweep_points.h"
#include "topologies/cost/bill.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

struct CompareOptions {
  std::vector<std::string> apps, topologies, sets;
  std::string networks, fabric, network, prices = topologies::price_list_names().front(), csv, seeds = "5";
  std::optional<std::string> output;
  std::optional<std::uint32_t> slots;
  TokenPrices token_prices;
  bool json = false, dry_run = false;
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

std::vector<Network> networks_of(const CompareOptions& options) {
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

// ---- What runs ----

// "5" are the seeds 1 to 5.
std::vector<std::uint64_t> seeds_of(const std::string& text) {
  if (text.find_first_not_of('0') == std::string::npos) throw InputError("--seeds must be at least 1");
  const bool count = text.find_first_not_of("0123456789") == std::string::npos;
  return sweep::parse_seeds(count ? "1.." + text : text);
}

// As --job of weft sim, and shorter: generated traffic without traffic=[], where there is no file of that
// name.
std::string job_of(const std::string& app) {
  const std::size_t end = std::min(app.find_first_of(":,="), app.size());
  const std::string name = app.substr(0, end), file = app.substr(0, app.find(','));
  if (end < app.size() && app[end] == '=') return app;
  if (!fs::exists(file) && name.find_first_of("./") == std::string::npos) return "traffic=[" + app + "]";
  check_input(file);
  return app;
}

// A folder that goes with this object, unless the user has named one.
class ResultFolder {
 public:
  explicit ResultFolder(const std::optional<std::string>& given)
      : path_(given.value_or("")), removed_(!given) {
    if (!removed_) return;
    path_ = (fs::temp_directory_path() / "weft-compare-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) throw InputError(path_ + ": can't create a folder; use -o DIR");
  }
  ~ResultFolder() {
    std::error_code ignored;
    if (removed_) fs::remove_all(path_, ignored);
  }
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool removed_;
};

// Is the application's program the same on every network, not one with a rank for each of its hosts?
bool is_of_one_size(const sim::Scenario& scenario) {
  return std::ranges::all_of(scenario.jobs, [](const sim::Job& job) {
    if (job.traffic.empty()) return true;
    const goal::Workload& traffic = find_module(goal::workloads(), job.traffic, "traffic pattern");
    const Parameters parameters(traffic.info, job.traffic);
    return parameters.integer("ranks") > 0 ||
           (traffic.own_ranks != nullptr && traffic.own_ranks(parameters) > 0);
  });
}

// From networks and applications to the points of a sweep.
class Comparison {
 public:
  explicit Comparison(const CompareOptions& options) : options_(options), seeds_(seeds_of(options.seeds)) {
    std::vector<std::string> apps = options.apps;
    std::ranges::sort(apps);
    const auto twice = std::ranges::adjacent_find(apps);
    if (twice != apps.end()) throw InputError(*twice + " is given twice");
    const std::vector<Network> networks = networks_of(options);
    for (const std::string& app : options.apps) check(app, networks);
    for (const Network& network : networks) add(network);
  }

  std::size_t seeds() const { return seeds_.size(); }
  const std::vector<PricedNetwork>& networks() const { return networks_; }
  // Once for each application and topology, whatever it is priced with.
  std::vector<sweep::Point>& points() { return points_; }

 private:
  PointMaker& maker(const std::string& prices) {
    const auto place = makers_.find(prices);
    if (place != makers_.end()) return place->second;
    return makers_.try_emplace(prices, std::vector<std::string>(), topologies::find_price_list(prices))
        .first->second;
  }

  // Builds each network, and finds this application's ranks a place on it, so that what can't run is told
  // before the others have run for long. Throws InputError.
  void check(const std::string& app, const std::vector<Network>& networks) {
    std::set<std::string> seen;
    std::vector<goal::Program> programs;  // kept where they are the same on every network
    for (const Network& network : networks) {
      if (!seen.insert(network.topology).second) continue;
      try {
        const sim::Scenario scenario = sim::resolve_with_list(
            sim::read_scenario_file(registries_, "", settings(app, network.topology)), registries_);
        const sim::Simulation simulation(scenario);
        if (programs.empty() || !is_of_one_size(scenario)) programs = simulation.workload();
        simulation.check_places(programs);
      } catch (const InputError& error) {
        std::string what = error.what();
        const auto name = [&](const std::string& which) {
          if (what.find(which) == std::string::npos) what = fmt::format("{}: {}", which, what);
        };
        name(network.topology);
        if (options_.apps.size() > 1) name(app);
        throw InputError(what);
      }
    }
  }

  void add(const Network& network) {
    const bool known = std::ranges::any_of(
        networks_, [&](const PricedNetwork& other) { return other.topology == network.topology; });
    PointMaker& made_by = maker(network.prices);
    const std::size_t before = points_.size();
    for (const std::string& app : options_.apps) {
      for (const std::uint64_t seed : seeds_) {
        sweep::Point point = made_by.make({app, network.topology}, "", settings(app, network.topology), seed);
        if (!known) points_.push_back(std::move(point));
        if (known) break;  // made for its price
      }
    }
    refuse_twice(network, before);
    PricedNetwork priced{.topology = network.topology,
                         .prices = network.prices,
                         .unpriced = topologies::left_out_of(topologies::find_price_list(network.prices))};
    if (const std::optional<topologies::Bill>& bill = made_by.last_bill()) {
      priced.price = bill->price;
      priced.watts = bill->watts;
      priced.endpoint_bps = bill->injection_bps / static_cast<double>(bill->endpoints);
    }
    networks_.push_back(std::move(priced));
  }

  // With one list of prices there is nothing to compare of a network with itself, by whatever name: that
  // would be a tie, as if seeds had decided. `before` are the points of the others.
  void refuse_twice(const Network& network, std::size_t before) const {
    for (const PricedNetwork& other : networks_) {
      if (other.prices != network.prices) continue;
      if (other.topology == network.topology) throw InputError(network.topology + " is given twice");
      if (before == points_.size()) continue;
      const auto same = std::find_if(points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(before),
                                     [&](const sweep::Point& point) {
                                       return point.values[1] == other.topology &&
                                              point.scenario == points_[before].scenario;
                                     });
      if (same == points_.begin() + static_cast<std::ptrdiff_t>(before)) continue;
      throw InputError(fmt::format("{} and {} are the same network", other.topology, network.topology));
    }
  }

  std::vector<sim::Setting> settings(const std::string& app, const std::string& topology) const {
    std::vector<sim::Setting> all = {{"--topology " + topology, "topology", topology},
                                     {app, "job", job_of(app)},
                                     {"compare-networks", "output.flows", "false"}};
    if (!options_.network.empty()) all.push_back({"--network", "network", options_.network});
    if (!options_.fabric.empty()) all.push_back({"--fabric", "fabric", options_.fabric});
    for (const std::string& set : options_.sets) all.push_back(sim::parse_setting(set));
    return all;
  }

  const CompareOptions& options_;
  const sim::Registries registries_ = sim::builtin_registries();
  std::vector<std::uint64_t> seeds_;
  std::map<std::string, PointMaker> makers_;  // by price list
  std::vector<PricedNetwork> networks_;
  std::vector<sweep::Point> points_;
};

// ---- What is told ----

void write_csv(const std::string& path, const NetworkTable& table) {
  goal::FileWriter file(path);
  file.write(as_csv(table));
  file.commit();
}

void tell(const CompareOptions& options, const NetworkTable& table) {
  if (!options.csv.empty()) write_csv(options.csv, table);
  if (options.json) {
    using Json = nlohmann::ordered_json;
    fmt::print("{}\n", as_json(table).dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    print_text(as_text(table));
  }
  for (const std::string& each : table.other_work) log::warn(each);
}

void check(const TokenPrices& prices) {
  if (!(prices.years > 0)) throw InputError("--years must be above 0");
  if (!(prices.endpoint_price >= 0)) throw InputError("--endpoint-price must be 0 or more");
}

int compare(const CompareOptions& options) {
  check(options.token_prices);
  refuse_ending_of_another(options.csv, "the table is CSV", {".csv"});
  Comparison comparison(options);
  if (options.dry_run) {
    print_text(fmt::format("{} runs\n", comparison.points().size()));
    return kOk;
  }
  const ResultFolder place(options.output);
  sweep::Folder folder(place.path(), {"application", "topology"});
  for (sweep::Point& point : comparison.points()) folder.add(std::move(point));
  folder.save();
  const int signal = run_told(folder, sweep::Engine::kLocal, options.slots, options.json);
  if (signal != 0) return 128 + signal;
  const NetworkTable table =
      network_table(folder, options.apps, comparison.networks(), comparison.seeds(), options.token_prices);
  const sweep::Outcomes outcomes = sweep::outcomes_of(folder);
  if (options.output) {
    sweep::write_tables(folder, outcomes, sweep::groups_of(folder, outcomes));
    write_csv(place.path() + "/networks.csv", table);
  }
  tell(options, table);
  return report_failures(folder, outcomes);
}

}  // namespace

void add_compare_networks(Command& command, int& exit_code) {
  const auto options = std::make_shared<CompareOptions>();
  command
      .add_option("APP,--traffic,--goal", options->apps,
                  "Applications, each on its own: a GOAL graph, with fields of a job like "
                  "',ranks_per_node=4', or generated traffic, alltoall:size=1MB,ranks=64; --goal or "
                  "--traffic may stand before them, as in weft sim")
      .required();
  command.add_option("--topology", options->topologies, "A network to compare; given again for each")
      .repeated();
  command.add_option("--networks", options->networks,
                     "A file of more: a topology a line, and behind it prices=FILE where it has its own");
  command.add_option("--network", options->network, "Network model: packet (default) or flow");
  command.add_option("--fabric", options->fabric,
                     "The same for all; default: that of each family, which is told");
  command.add_option("--prices", options->prices, "List of prices, a name or a file").with_default();
  command
      .add_option("--years", options->token_prices.years,
                  "Years of training day and night over which $ per token are reckoned")
      .with_default();
  command
      .add_option("--endpoint-price", options->token_prices.endpoint_price,
                  "What an endpoint costs beside the network, $, for $ per token")
      .with_default();
  command.add_option("--seeds", options->seeds, "How many seeds, 5, or which, 3..9").with_default();
  command.add_option("--set", options->sets, "FIELD=VALUE: any field of the scenario").repeated();
  command.add_option("--jobs", options->slots, "Runs side by side; by default cores / threads of a run")
      .range(1, 4096);
  command.add_option("-o,--output", options->output,
                     "Folder of a sweep for the runs, which the same command goes on with, and networks.csv; "
                     "else nothing is kept");
  command.add_option("--csv", options->csv, "Write the table here, too");
  command.add_flag("--json", options->json, "Print JSON");
  command.add_flag("--dry-run", options->dry_run, "Check all runs, tell how many they are, and stop");
  command.footer(
      "Where networks aren't alike (endpoints, rates of hosts, fabric, prices, ranks, messages, bytes) is "
      "said "
      "first. "
      "Networks whose mean runtime can't be told from the fastest one's (Welch's test, 95%) are a tie.\n"
      "Examples:\n"
      "  weft compare-networks app.weft --topology fat_tree:k=8 --topology dragonfly:p=2 --fabric uet\n"
      "  weft compare-networks alltoall:size=1MB,ranks=64 --networks offers.txt --network flow --json");
  command.callback([options, &exit_code] { exit_code = compare(*options); });
}

}  // namespace weft::cli
