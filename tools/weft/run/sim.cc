#include "tools/weft/run/sim.h"

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "sim/plugins/load.h"
#include "sim/results/report.h"
#include "sim/results/results_folder.h"
#include "sim/run/job_setup.h"
#include "sim/run/listed_jobs.h"
#include "sim/run/simulation.h"
#include "sim/run/sinks.h"
#include "sim/scenario/scenario.h"
#include "sim/units/input_error.h"
#include "sim/units/memory.h"
#include "sim/units/printable.h"
#include "tools/weft/cli/build_info.h"
#include "tools/weft/cli/log.h"
#include "tools/weft/cli/memory_limit.h"
#include "tools/weft/cli/phases.h"
#include "tools/weft/run/baseline.h"
#include "tools/weft/run/run_control.h"
#include "tools/weft/run/scenario_options.h"

namespace weft::cli {
namespace {

struct SimOptions {
  ScenarioOptions scenario;
  bool quiet = false;
  bool verbose = false;
  bool dry_run = false;
};

int exit_code_of(results::Outcome outcome) {
  switch (outcome) {
    case results::Outcome::kComplete:
      return kOk;
    case results::Outcome::kIncomplete:
      return kAbnormalEnd;
    case results::Outcome::kInterrupted:
      return 128 + Phases::signal();
    default:
      return kLimit;
  }
}

void report_incomplete(const results::Report& report) {
  if (report.outcome == results::Outcome::kIncomplete) {
    log::error(fmt::format("the replay can't go on: {} of {} operations were executed", report.executed_ops,
                           report.ops));
  } else if (report.outcome != results::Outcome::kComplete) {
    log::error(fmt::format("stopped ({}) after {} of {} operations; the results are partial",
                           results::name(report.outcome), report.executed_ops, report.ops));
  }
  for (const std::string& line : report.diagnosis) {
    std::fprintf(stderr, "  %s\n", printable(line).c_str());
  }
}

// The folder's files of an earlier run stay until everything is built and the simulation starts.
class Control final : public TerminalControl {
 public:
  Control(const sim::Limits& limits, Phases& phases, bool quiet, sim::ReportSinks& sinks)
      : TerminalControl(limits, phases, quiet), sinks_(sinks) {}

  void begin(std::function<double()> fraction) override {
    sinks_.begin();
    TerminalControl::begin(std::move(fraction));
  }

 private:
  sim::ReportSinks& sinks_;
};

// Runs `work`; what ends it before its end is told in the folder of the results too.
void with_folder(sim::ReportSinks& sinks, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::bad_alloc& error) {
    sinks.failed(about_memory(error, ""));
    throw;
  } catch (const std::exception& error) {
    sinks.failed(printable(error.what()));
    throw;
  }
}

int run(const SimOptions& options, Phases& phases) {
  phases.enter("reading the scenario");
  phases.set_last_words([](const std::string& reason) { results::note_end_of_run(reason); });
  const std::vector<std::string> plugins = options.scenario.plugins();
  for (const std::string& plugin : plugins) sim::load_plugin(plugin);
  const sim::Registries registries = sim::builtin_registries();
  sim::Scenario scenario = sim::resolve_with_list(
      sim::read_scenario_file(registries, options.scenario.file(), options.scenario.settings()), registries);
  scenario.plugins = plugins;
  if (scenario.limits.memory_bytes != 0) limit_memory(scenario.limits.memory_bytes);
  if (options.verbose) log::show_info();
  log::info(fmt::format("building the network: {} {}", scenario.network.name, scenario.topology.name));
  phases.enter(fmt::format("building the network ({})", scenario.topology.name));
  sim::Simulation simulation(scenario);
  if (scenario.output.directory.empty()) simulation.omit_flow_rows();
  scenario = simulation.scenario();
  if (options.dry_run) {
    std::fputs(sim::to_text(scenario, registries).c_str(), stdout);
    return kOk;
  }
  const std::string reading = scenario.jobs.size() == 1
                                  ? fmt::format("reading the graph of job {}", scenario.jobs[0].name)
                                  : fmt::format("reading the graphs of {} jobs", scenario.jobs.size());
  log::info(reading);
  phases.enter(reading);
  const std::vector<goal::Program> programs = simulation.workload();
  sim::Scenario decided = scenario;
  std::vector<std::string> remarks;  // the report has them
  sim::follow_libraries(decided, programs, remarks);
  for (const goal::Program& program : programs) {
    log::info(fmt::format("replaying {} operations of {} ranks", program.facts().ops, program.ranks()));
  }
  phases.enter("setting up the simulation");
  const std::string& directory = scenario.output.directory;
  std::optional<sim::ReportSinks> sinks(
      std::in_place, sim::SinkRequest{.scenario = scenario, .terminal = options.quiet ? nullptr : stdout});
  Control control(scenario.limits, phases, options.quiet, *sinks);
  results::Report report;
  with_folder(*sinks, [&] {
    std::optional<Baseline> baseline;
    if (scenario.output.baseline) {
      baseline.emplace(simulation, programs, decided, registries, directory, [&](const std::string& what) {
        log::info(what);
        return std::make_unique<TerminalControl>(scenario.limits, phases, options.quiet);
      });
    }
    report = simulation.run(programs, control);
    const bool ended =
        report.outcome == results::Outcome::kComplete || report.outcome == results::Outcome::kIncomplete;
    if (baseline && ended) baseline->measure(report);
    report.scenario = sim::to_text(sim::repeatable(sim::draft_of(decided), registries), registries);
    report.commit = build_commit();
    report.inputs = sim::input_files(sim::draft_of(scenario), registries);
    const std::string& file = options.scenario.file();
    if (!file.empty()) report.inputs.insert(report.inputs.begin(), file);
    report.wall_seconds = control.seconds();
    report.peak_memory_bytes = peak_resident_bytes();
    if (!directory.empty()) log::info(fmt::format("writing results to {}", directory));
    sinks->write(report);
    if (baseline && ended) baseline->save();
  });
  sinks.reset();
  report_incomplete(report);
  const int status = exit_code_of(report.outcome);
  if (report.outcome == results::Outcome::kInterrupted) Phases::leave(status);
  return status;
}

int run(const SimOptions& options) {
  if (options.quiet) listen_for_memory(nullptr);
  Phases phases(!options.quiet);
  try {
    return run(options, phases);
  } catch (const std::bad_alloc& error) {
    lift_memory_limit();
    log::error(about_memory(error, phases.current()));
    return kLimit;
  }
}

}  // namespace

void add_sim(Command& command, int& exit_code) {
  auto options = std::make_shared<SimOptions>();
  options->scenario.add_to(command, true);
  command.add_flag("--dry-run", options->dry_run, "print the resolved scenario and stop");
  command.add_flag("-v,--verbose", options->verbose, "say on standard error what is being done");
  command.add_flag("-q,--quiet", options->quiet, "no summary and no progress line");
  command.footer(
      "Examples:\n"
      "  weft sim --goal app.weft\n"
      "  weft sim --goal app.weft --network loggops:L=3700,o=200,g=5,G=0.04,S=0 -o RUN\n"
      "  weft sim --goal app.weft --topology fat_tree:k=8 --routing ecmp --congestion dctcp -o RUN\n"
      "  weft sim --traffic permutation:size=2MB --topology fat_tree:k=8 --routing spray -o RUN\n"
      "  weft sim --traffic permutation:size=2MB --topology fat_tree:k=8 --fabric roce -o RUN\n"
      "  weft sim --traffic alltoall:size=1MB --topology fat_tree:k=16 --routing spray --network flow -o "
      "RUN\n"
      "  weft sim --traffic incast:n=16,size=1MB --topology fat_tree:k=8 --sample 10us --pcapng 0 -o RUN\n"
      "  weft sim --job lj.weft --job hpcc.weft,placement=random,at=1ms --topology fat_tree:k=8 --baseline "
      "-o RUN\n"
      "  weft sim --job-list log.swf --scheduler easy --time-scale 1e6 --topology dragonfly:endpoints=1024 "
      "--network flow -o RUN\n"
      "  weft sim --traffic permutation:size=2MB --topology fat_tree:k=8 --fault random_links=3,at=10us\n"
      "  weft sim examples/quickstart/fat_tree.txtpb --goal app.weft --set seed=7\n"
      "What to choose from: weft list. Parameters, defaults and units: weft describe NAME.\n"
      "The scenario file: sim/scenario/README.md. The files in RUN: sim/results/README.md.\n"
      "Exit status: 0 done, 2 bad input, 3 the simulation could not go on, 4 a limit was hit, 128 + the "
      "number of a signal that ended it (130: Ctrl-C); the results of a run that was stopped are partial.");
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace weft::cli
