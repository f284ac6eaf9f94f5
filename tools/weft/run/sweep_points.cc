#include "tools/weft/run/sweep_points.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "goal/program.h"
#include "goal/workload/workload.h"
#include "sim/placement/placement.h"
#include "sim/plugins/load.h"
#include "sim/run/job_setup.h"
#include "sim/run/listed_jobs.h"
#include "sim/run/simulation.h"
#include "sim/scenario/seams.h"
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
                              std::vector<sim::Setting> settings, std::optional<std::uint64_t> seed,
                              const std::function<std::string(const std::string& path)>& place) {
  if (seed) settings.push_back({"--seeds", "seed", std::to_string(*seed)});
  sim::Draft draft = sim::read_scenario_file(registries_, file, settings);
  if (place) draft = sim::with_paths(draft, registries_, place);
  sim::Scenario scenario = sim::resolve_with_list(draft, registries_);
  scenario.plugins = plugins_;
  const sim::Draft told = sim::repeatable(sim::draft_of(scenario), registries_);
  sweep::Point point{.values = std::move(values),
                     .seed = told.seed,
                     .scenario = origin(told, registries_) + sim::to_text(told, registries_),
                     .threads = told.threads};
  last_misfit_ = misfit(scenario, price(told.topology, point).hosts);
  return point;
}

std::uint32_t PointMaker::ranks_of(const sim::Job& job) {
  try {
    if (!job.traffic.empty()) {
      const goal::Workload& traffic = find_module(goal::workloads(), job.traffic, "traffic pattern");
      const Parameters parameters(traffic.info, job.traffic);
      const std::int64_t ranks = parameters.integer("ranks");
      if (ranks > 0) return static_cast<std::uint32_t>(ranks);
      return traffic.own_ranks == nullptr ? 0 : traffic.own_ranks(parameters);
    }
    const auto [known, added] = ranks_of_graphs_.try_emplace(job.goal, 0);
    // A graph that is not packed is read as a whole.
    constexpr std::uintmax_t kMostBytes = 64 << 20;
    std::error_code error;
    const bool moderate = std::filesystem::file_size(job.goal, error) <= kMostBytes && !error;
    if (added && moderate) known->second = goal::open_program(job.goal).ranks();
    return known->second;
  } catch (const InputError&) {
    return 0;  // its run says what is wrong
  }
}

std::uint32_t PointMaker::working_hosts(const sim::Scenario& scenario, std::uint32_t hosts) {
  if (scenario.failed.empty()) return hosts;
  const auto [known, added] = working_.try_emplace(
      fmt::format("{}\n{}\n{}", key(scenario.topology), scenario.seed, scenario.failed), hosts);
  if (!added) return known->second;
  try {
    const placement::Machine machine = sim::machine_of(scenario, topologies::build(scenario.topology));
    known->second -=
        static_cast<std::uint32_t>(std::ranges::count(machine.state, placement::HostState::kFailed));
  } catch (const InputError&) {
    // Its run says which host there is not.
  }
  return known->second;
}

std::string PointMaker::misfit(const sim::Scenario& scenario, std::uint32_t all_hosts) {
  if (all_hosts == 0) return "";
  const std::uint32_t hosts = working_hosts(scenario, all_hosts);
  const std::string there = fmt::format("{} hosts{}", hosts, hosts < all_hosts ? " have not failed" : "");
  // Without a scheduler jobs keep their hosts for the whole run, so they need them together.
  const bool together = scenario.scheduler.empty();
  std::uint64_t needed = 0, jobs = 0;
  for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
    const std::uint32_t ranks = ranks_of(scenario.jobs[i]);
    const sim::Scenario one = sim::scenario_of_job(scenario, i);
    const std::uint64_t each = Parameters(sim::hosts_section(), one.hosts).whole("ranks_per_host");
    if (ranks > each * hosts) return fmt::format("{} ranks with {} on each host, and {}", ranks, each, there);
    needed += (ranks + each - 1) / each;
    jobs += ranks > 0 ? 1 : 0;
  }
  if (!together || needed <= hosts) return "";
  return fmt::format("{} jobs side by side need {} hosts, and {}{}", jobs, needed,
                     hosts < all_hosts ? "" : "there are ", there);
}

const PointMaker::Built& PointMaker::price(const ModuleChoice& network, sweep::Point& point) {
  const auto [place, added] = built_.try_emplace(key(network));
  Built& built = place->second;
  last_bill_ = &built.bill;
  if (added && !network.empty()) {
    // What can't be built is refused here, before the first run.
    const topologies::Topology topology = topologies::build(network);
    built.hosts = topology.hosts();
    try {
      if (prices_) built.bill = topologies::bill(topology, *prices_);
    } catch (const InputError& error) {
      log::warn(fmt::format("no price for {}: {}", network.name, error.what()));
    }
  }
  if (built.bill) {
    point.price = built.bill->price;
    point.watts = built.bill->watts;
  }
  return built;
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

int report_failures(const sweep::Folder& folder, const sweep::Outcomes& outcomes) {
  constexpr std::size_t kMostTold = 5;
  std::size_t not_done = 0, not_complete = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const sweep::Point& point = folder.points()[i];
    const std::optional<sweep::Outcome>& result = outcomes[i];
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
