#include "tools/report/run.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "goal/file.h"
#include "sim/results/results_folder.h"
#include "sim/units/input_error.h"
#include "sim/units/used_files.h"
#include "tools/report/database.h"
#include "tools/report/headline.h"
#include "tools/report/sections.h"
#include "topologies/cost/bill.h"
#include "topologies/families.h"

namespace weft::report {
namespace {

void check_folder(const std::string& folder) {
  if (!std::filesystem::is_directory(folder)) {
    throw InputError(fmt::format("{}: this is no folder that `weft sim … -o {}` left", folder, folder));
  }
  const std::string marker = folder + "/" + results::kIncompleteMarker;
  if (std::filesystem::exists(marker)) {
    throw InputError(fmt::format("{}: these results are not complete; {} says why", folder, marker));
  }
  if (!std::filesystem::exists(folder + "/results.sqlite")) {
    throw InputError(
        fmt::format("{0}/results.sqlite: there is no such file; `weft sim {0}/scenario.txtpb --set "
                    "output.sqlite=true -o AGAIN` makes it",
                    folder));
  }
}

// summary.json, but for what tables hold too.
Json summary(const std::string& folder) {
  const std::string path = folder + "/summary.json";
  const goal::FileView file(path);
  Json json = Json::parse(file.bytes(), nullptr, false);
  if (!json.is_object()) throw InputError(SourceLocation{.file = path}, "this is no JSON object");
  for (const char* key : {"jobs", "interference", "warnings", "diagnosis", "signals"}) json.erase(key);
  return json;
}

// Gives what the run sent between machines of several accelerators, in bit/s; 0 if rows of links were left
// out.
double between_machines(const Database& database, const topologies::Topology& topology) {
  const Json all = database.columns("SELECT link, utilization FROM links");
  std::vector<double> utilization(topology.channels().size());
  if (all["link"].size() != utilization.size()) return 0;
  for (std::size_t i = 0; i < all["link"].size(); ++i) {
    const std::uint64_t link = database.whole(all["link"][i]);
    if (link >= utilization.size()) throw InputError(fmt::format("the network has no link {}", link));
    utilization[link] = database.real(all["utilization"][i]);
  }
  return topologies::between_machines_bps(topology, utilization);
}

// The drawing of the network and what it costs.
void add_network(const Database& database, const topologies::PriceList& prices, const Budget& budget,
                 const std::string& inside, Json& run) {
  const ModuleChoice choice = chosen_topology(run["parameters"]);
  if (choice.empty()) {
    run["left_out"].push_back("Drawing, links and cost: this network model has no topology.");
    return;
  }
  std::optional<topologies::Topology> topology;
  const auto attempt = [&](const char* what, const auto& work) {
    const ForeignPaths foreign(inside);
    try {
      work();
    } catch (const InputError& error) {
      // What a file holds is not for a page: its author chose the path, and may not have been able to read
      // it.
      const std::string read = foreign.read();
      run["left_out"].push_back(
          read.empty() ? fmt::format("{}: {}.", what, error.what())
                       : fmt::format("{}: it needs {}, which is outside of the run's folder (--allow-files "
                                     "reads it nevertheless) or no file of a network.",
                                     what, read));
    }
  };
  attempt("Drawing and cost of the network", [&] { topology.emplace(topologies::build(choice)); });
  if (!topology) return;
  attempt("Drawing of the network", [&] { run["drawing"] = drawing(database, *topology, budget); });
  const Json::json_pointer goodput("/goodput/total_bps");
  const Json& all = run["summary"];
  const double bps = all.contains(goodput) && all[goodput].is_number() ? all[goodput].get<double>() : 0;
  attempt("Cost of the network", [&] {
    run["cost"] =
        cost(*topology, prices, topology->has_domains() ? between_machines(database, *topology) : bps);
  });
}

void add_signals(const Database& database, Json& run) {
  run["signals"] = database.columns("SELECT substr(name, 1, 200) AS name, count FROM signals LIMIT 1000");
  run["signals_by_name"] = Json::object();
  const Json& signals = run["signals"];
  for (std::size_t i = 0; i < signals["name"].size(); ++i) {
    run["signals_by_name"][text_of(signals["name"][i])] = signals["count"][i];
  }
}

// What the page does not hold.
void say_what_is_left_out(const Database& database, Json& run) {
  const Json omitted = database.columns("SELECT table_name, rows, kept, rule FROM omitted LIMIT 100");
  for (std::size_t i = 0; i < omitted["rule"].size(); ++i) {
    run["left_out"].push_back(fmt::format("The results hold {} of {} rows of {}: {}.",
                                          text_of(omitted["kept"][i]), text_of(omitted["rows"][i]),
                                          text_of(omitted["table_name"][i]), text_of(omitted["rule"][i])));
  }
  if (run["series"].is_null()) {
    run["left_out"].push_back("Series over time: nothing was sampled (`weft sim … --sample 10us` does).");
  }
}

Json read_tables(const std::string& folder, const topologies::PriceList& prices, const Budget& budget,
                 Files files) {
  check_folder(folder);
  const Database database(folder + "/results.sqlite");
  std::error_code error;
  std::filesystem::path path = std::filesystem::weakly_canonical(folder, error);
  if (error) path = folder;
  Json run = {{"name", path.filename().string()}, {"folder", path.string()}};
  run["summary"] = summary(folder);
  for (const char* key : {"version", "machine_name", "threads"}) {
    run["provenance"][key] = database.value(fmt::format("SELECT value FROM run WHERE key = '{}'", key));
  }
  run["left_out"] = Json::array();
  const Json scenario =
      database.value(fmt::format("SELECT substr(text, 1, {}) FROM scenario", budget.text + 1));
  run["parameters"] = parameters(scenario.is_string() ? scenario.get<std::string>() : "", budget);
  run["warnings"] = database.columns(fmt::format(
      "SELECT kind, substr(text, 1, 2000) AS text FROM warnings LIMIT {}", budget.text / 2000 + 1));
  run["inputs"] =
      database.columns("SELECT substr(path, 1, 500) AS path, bytes, sha256 FROM inputs LIMIT 200");
  add_signals(database, run);
  run["ranks"] = rank_times(database, budget);
  run["jobs"] = jobs(database, budget);
  run["messages"] = messages(database, budget);
  run["links"] = links(database, budget);
  run["timeline"] = timeline(database, budget);
  run["series"] = series(database, budget);
  add_network(database, prices, budget, files == Files::kAnywhere ? "" : folder, run);
  say_what_is_left_out(database, run);
  run["headline"] = headline(run);
  return run;
}

}  // namespace

Json read_run(const std::string& folder, const topologies::PriceList& prices, const Budget& budget,
              Files files) {
  try {
    return read_tables(folder, prices, budget, files);
  } catch (const Json::exception& error) {  // a value of a type that no run leaves
    throw InputError(fmt::format("{}: these are not the results of a run: {}", folder, error.what()));
  }
}

}  // namespace weft::report
