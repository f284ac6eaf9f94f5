#include "tools/weft/run/sweep_points.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "sim/plugins/load.h"
#include "sim/run/listed_jobs.h"
#include "sim/run/simulation.h"
#include "sim/units/input_error.h"
#include "sim/units/input_file.h"
#include "tools/weft/cli/build_info.h"
#include "tools/weft/cli/log.h"
#include "tools/weft/cli/memory_limit.h"
#include "tools/weft/cli/subcommand.h"
#include "topologies/families.h"

namespace weft::cli {
namespace {

std::vector<std::string> loaded(std::vector<std::string> plugins) {
  for (const std::string& plugin : plugins) sim::load_plugin(plugin);
  return plugins;
}

// Comments before the scenario: of what its results are made.
std::string origin(const sim::Draft& draft, const sim::Registries& registries) {
  const std::string build = build_info();
  std::string text = fmt::format("# A point of weft sweep, by {}\n", build.substr(0, build.find('\n')));
  for (const std::string& file : sim::input_files(draft, registries)) {
    check_input(file);  // before any run, rather than by each
    text += sweep::input_line(file);
  }
  return text;
}

std::string key(const ModuleChoice& choice) {
  std::string text = choice.name;
  for (const auto& [name, value] : choice.given) text += fmt::format(",{}={}", name, value);
  return text;
}

}  // namespace

PointMaker::PointMaker(std::vector<std::string> plugins, std::optional<topologies::PriceList> prices)
    : plugins_(loaded(std::move(plugins))),
      registries_(sim::builtin_registries()),
      prices_(std::move(prices)) {}

sweep::Point PointMaker::make(std::vector<std::string> values, const std::string& file,
                              std::vector<sim::Setting> settings, std::optional<std::uint64_t> seed) {
  if (seed) settings.push_back({"--seeds", "seed", std::to_string(*seed)});
  sim::Scenario scenario =
      sim::resolve_with_list(sim::read_scenario_file(registries_, file, settings), registries_);
  scenario.plugins = plugins_;
  const sim::Draft told = sim::repeatable(sim::draft_of(scenario), registries_);
  sweep::Point point{.values = std::move(values),
                     .seed = told.seed,
                     .scenario = origin(told, registries_) + sim::to_text(told, registries_),
                     .threads = told.threads};
  price(told.topology, point);
  return point;
}

void PointMaker::price(const ModuleChoice& network, sweep::Point& point) {
  const auto [place, added] = bills_.try_emplace(key(network));
  last_bill_ = &place->second;
  if (added && !network.empty()) {
    // What can't be built is refused here, before the first run.
    const topologies::Topology topology = topologies::build(network);
    try {
      if (prices_) place->second = topologies::bill(topology, *prices_);
    } catch (const InputError& error) {
      log::warn(fmt::format("no price for {}: {}", network.name, error.what()));
    }
  }
  if (!place->second) return;
  point.price = place->second->price;
  point.watts = place->second->watts;
}

std::string own_path() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "/proc/self/exe";
}

int run_told(const sweep::Folder& folder, sweep::Engine engine, std::optional<std::uint32_t> slots,
             bool quiet) {
  sweep::RunRequest request{.program = own_path(),
                            .slots = slots.value_or(static_cast<std::uint32_t>(sweep::default_slots(folder))),
                            .engine = engine};
  const bool shown = !quiet && isatty(STDERR_FILENO) != 0;
  if (shown) {
    request.tell = [](std::size_t done, std::size_t all) {
      std::fprintf(stderr, "\r%zu of %zu runs\033[K%s", done, all, done == all ? "\r\033[K" : "");
    };
  }
  // Runs take memory, this process doesn't.
  lift_memory_limit();
  return sweep::run_points(folder, request);
}

int report_failures(const sweep::Folder& folder) {
  constexpr std::size_t kMostTold = 5;
  std::size_t not_done = 0, not_complete = 0;
  for (const sweep::Point& point : folder.points()) {
    const std::optional<sweep::Result> result = folder.result(point);
    if (!result && ++not_done <= kMostTold) {
      const std::string words = folder.last_words(point);
      const char* wordless = folder.begun(point) ? "it ended without results" : "it has not run";
      log::error(fmt::format("{}: {}", point.name, words.empty() ? wordless : words));
    }
    if (result && !result->complete() && ++not_complete <= kMostTold) {
      log::error(fmt::format("{}: {}", point.name, result->outcome));
    }
  }
  const std::size_t all = folder.points().size();
  if (not_done > 0) log::error(fmt::format("{} of {} runs have no results", not_done, all));
  if (not_complete > 0) {
    log::error(
        fmt::format("{} of {} runs did not come to their end, and count in no mean", not_complete, all));
  }
  return not_done > 0 ? kBadInput : not_complete > 0 ? kAbnormalEnd : kOk;
}

}  // namespace weft::cli
